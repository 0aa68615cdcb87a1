// SPDX-License-Identifier: Apache-2.0
// Boxes and strided elements, put and got.
#include "symmetric_fixture.hpp"

#include <array>

using namespace symmetric_test;

namespace {

using symmetric_boxes = with_heap;
using corner = std::array<std::size_t, 3>;

TEST_F(symmetric_boxes, are_put_and_got_as_opencl_copies_them) {
    constexpr std::size_t row = 100, slice = 2000, size = 10 * slice;
    auto* const target = allocate<unsigned char>(size);
    const queue on = make_queue(order::in_order);
    const buffer source = own().make_buffer(pattern(me, 1, size));
    const corner from{7, 3, 1}, to{11, 2, 4}, region{60, 9, 3};
    ASSERT_EQ(clEnqueuePutRect(on.get(), source.get(), CL_TRUE, from.data(), to.data(), region.data(), row, slice, 90,
                               1800, target, next, 0, nullptr, nullptr),
              CL_SUCCESS)
        << causeway_error_last_message();
    ASSERT_EQ(causeway_symmetric_barrier(), CL_SUCCESS);

    bytes expected(size, 0);
    const auto theirs = pattern(before, 1, size);
    for (std::size_t z = 0; z < region[2]; ++z)
        for (std::size_t y = 0; y < region[1]; ++y)
            for (std::size_t x = 0; x < region[0]; ++x)
                expected[to[0] + x + (to[1] + y) * 90 + (to[2] + z) * 1800] = theirs[from[0] + x + (from[1] + y) * row +
                                                                                     (from[2] + z) * slice];
    EXPECT_TRUE(same(contents(target, size), expected));

    // And back, from who has it: it is this PE's own pattern.
    const buffer back = own().make_buffer(size, 0);
    ASSERT_EQ(clEnqueueGetRect(on.get(), back.get(), CL_TRUE, from.data(), to.data(), region.data(), row, slice, 90,
                               1800, target, next, 0, nullptr, nullptr),
              CL_SUCCESS)
        << causeway_error_last_message();
    const auto mine = pattern(me, 1, size), got = own().read(back.get(), 0, size);
    std::size_t differing = 0;
    for (std::size_t z = 0; z < slice * 10; ++z) {
        const std::size_t x = z % row, y = z % slice / row, at = z / slice;
        const bool inside = x >= from[0] && x < from[0] + region[0] && y >= from[1] && y < from[1] + region[1] &&
                            at >= from[2] && at < from[2] + region[2];
        differing += got[z] != (inside ? mine[z] : 0);
    }
    EXPECT_EQ(differing, 0u);
    ASSERT_EQ(causeway_symmetric_barrier(), CL_SUCCESS);
}

TEST_F(symmetric_boxes, of_elements_have_strides) {
    for (const std::size_t element : {std::size_t{1}, std::size_t{4}, std::size_t{8}, std::size_t{24}}) {
        constexpr std::size_t count = 5000;
        const std::size_t here = 3 * element, there = 2 * element, offset = 5;
        auto* const target = allocate<unsigned char>(there * count);
        const queue on = make_queue(order::in_order);
        const buffer source = own().make_buffer(pattern(me, 1, offset + here * count));
        ASSERT_EQ(clEnqueuePutStrided(on.get(), source.get(), CL_TRUE, offset, here, target, there, element, count,
                                      next, 0, nullptr, nullptr),
                  CL_SUCCESS)
            << causeway_error_last_message();
        ASSERT_EQ(causeway_symmetric_barrier(), CL_SUCCESS);
        bytes expected(there * count, 0);
        const auto theirs = pattern(before, 1, offset + here * count);
        for (std::size_t i = 0; i < count; ++i)
            std::copy_n(theirs.begin() + static_cast<std::ptrdiff_t>(offset + i * here), element,
                        expected.begin() + static_cast<std::ptrdiff_t>(i * there));
        EXPECT_TRUE(same(contents(target, there * count), expected));

        const buffer dense = own().make_buffer(element * count, 0);
        ASSERT_EQ(clEnqueueGetStrided(on.get(), dense.get(), CL_TRUE, 0, element, target, there, element, count, next,
                                      0, nullptr, nullptr),
                  CL_SUCCESS)
            << causeway_error_last_message();
        bytes packed;
        const auto mine = pattern(me, 1, offset + here * count);
        for (std::size_t i = 0; i < count; ++i)
            packed.insert(packed.end(), mine.begin() + static_cast<std::ptrdiff_t>(offset + i * here),
                          mine.begin() + static_cast<std::ptrdiff_t>(offset + i * here + element));
        EXPECT_TRUE(same(own().read(dense.get(), 0, packed.size()), packed));
        ASSERT_EQ(causeway_symmetric_barrier(), CL_SUCCESS);
    }
}

TEST_F(symmetric_boxes, are_refused_by_name) {
    auto* const target = allocate<unsigned char>(1024);
    const queue on = make_queue(order::in_order);
    const buffer source = own().make_buffer(1024, 1);
    const corner zero{}, region{10, 10, 1}, empty{0, 1, 1};
    const auto put = [&](const std::size_t* part, std::size_t there) {
        return clEnqueuePutRect(on.get(), source.get(), CL_FALSE, zero.data(), zero.data(), part, 100, 0, there, 0,
                                target, next, 0, nullptr, nullptr);
    };
    EXPECT_EQ(put(region.data(), 9), CL_INVALID_VALUE);
    EXPECT_EQ(put(empty.data(), 100), CL_INVALID_VALUE);
    EXPECT_EQ(put(region.data(), 200), CL_INVALID_VALUE);
    EXPECT_NE(std::string(causeway_error_last_message()).find("beyond the allocation in the symmetric heap"),
              std::string::npos);
    EXPECT_EQ(put(nullptr, 100), CL_INVALID_VALUE);
    EXPECT_EQ(clEnqueuePutStrided(on.get(), source.get(), CL_FALSE, 0, 4, target, 4, 8, 10, next, 0, nullptr, nullptr),
              CL_INVALID_VALUE);
}

} // namespace
