// SPDX-License-Identifier: Apache-2.0
// Boxes in memory, with numbers that a size_t cannot count.
#include "base/box_geometry.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace causeway {
namespace {

constexpr std::size_t most = SIZE_MAX;

TEST(box_geometry, says_where_a_box_begins_and_ends) {
    const auto laid = lay_out_box({3, 2, 1}, {4, 5, 6}, 10, 100);
    EXPECT_EQ(laid.fault, box_fault::none);
    EXPECT_EQ(laid.begin, 100 + 20 + 3);
    EXPECT_EQ(laid.end, laid.begin + 5 * 100 + 4 * 10 + 4);
    EXPECT_EQ(laid.bytes, 4 * 5 * 6);
    EXPECT_TRUE(laid.fits(laid.end));
    EXPECT_FALSE(laid.fits(laid.end - 1));
}

TEST(box_geometry, packs_what_has_no_pitches) {
    const auto laid = lay_out_box({}, {4, 5, 6}, 0, 0);
    EXPECT_EQ(laid.row_pitch, 4);
    EXPECT_EQ(laid.slice_pitch, 20);
    EXPECT_EQ(laid.end, 120);
}

TEST(box_geometry, names_what_is_wrong) {
    EXPECT_EQ(lay_out_box({}, {0, 1, 1}, 0, 0).fault, box_fault::empty_region);
    EXPECT_EQ(lay_out_box({}, {1, 0, 1}, 0, 0).fault, box_fault::empty_region);
    EXPECT_EQ(lay_out_box({}, {1, 1, 0}, 0, 0).fault, box_fault::empty_region);
    EXPECT_EQ(lay_out_box({}, {4, 1, 1}, 3, 0).fault, box_fault::row_pitch);
    EXPECT_EQ(lay_out_box({}, {4, 2, 2}, 4, 4).fault, box_fault::slice_pitch);
    EXPECT_EQ(lay_out_box({}, {4, 2, 2}, 4, 9).fault, box_fault::slice_pitch);
    EXPECT_EQ(lay_out_box({}, {4, 2, 2}, 4, 9, slices::anywhere).fault, box_fault::none);
}

TEST(box_geometry, every_sum_and_product_may_overflow) {
    const std::size_t half = most / 2 + 1;
    EXPECT_EQ(lay_out_box({0, 16, 0}, {1, 1, most}, 0, 0).fault, box_fault::too_large);
    EXPECT_EQ(lay_out_box({0, 16, 0}, {1, 1, 1}, most / 8, 0).fault, box_fault::too_large);
    EXPECT_EQ(lay_out_box({0, 0, 2}, {1, 1, 1}, 1, half).fault, box_fault::too_large);
    EXPECT_EQ(lay_out_box({most, 0, 0}, {2, 1, 1}, 0, 0).fault, box_fault::too_large);
    EXPECT_EQ(lay_out_box({most, 1, 0}, {1, 1, 1}, 0, 0).fault, box_fault::too_large);
    EXPECT_EQ(lay_out_box({0, 0, 0}, {half, 2, 1}, 0, 0).fault, box_fault::too_large);
    EXPECT_EQ(lay_out_box({0, 0, 0}, {1, 3, 1}, half, 0).fault, box_fault::too_large);
    EXPECT_EQ(lay_out_box({0, 0, 0}, {1, 3, 2}, half, most).fault, box_fault::slice_pitch);
    EXPECT_EQ(lay_out_box({0, 0, 0}, {1, 1, 4}, 1, half).fault, box_fault::too_large);
    EXPECT_EQ(lay_out_box({1, 0, 0}, {1, 1, most}, 0, 0).fault, box_fault::too_large);
}

TEST(box_geometry, the_address_space_ends) {
    auto* const last = reinterpret_cast<void*>(most - 100);
    EXPECT_TRUE(lay_out_box({}, {100, 1, 1}, 0, 0).fits_at(last));
    EXPECT_FALSE(lay_out_box({}, {101, 1, 1}, 0, 0).fits_at(last));
}

TEST(box_geometry, a_range_that_overflows_is_none) {
    EXPECT_TRUE(has_range(10, 4, 6));
    EXPECT_FALSE(has_range(10, 4, 7));
    EXPECT_FALSE(has_range(10, 11, 0));
    EXPECT_FALSE(has_range(10, most, 2));
    EXPECT_FALSE(has_range(10, 4, most));
}

} // namespace
} // namespace causeway
