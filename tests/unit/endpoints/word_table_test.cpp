// SPDX-License-Identifier: Apache-2.0
#include "endpoints/symmetric/word_table.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace causeway::endpoints {
namespace {

class word_table_of_a_heap : public ::testing::Test {
  protected:
    struct alignas(64) line {
        std::byte bytes[64];
    };
    static std::uint64_t value_of(const std::byte* word) {
        std::uint64_t value = 0;
        std::memcpy(&value, word, sizeof value);
        return value;
    }

    std::vector<line> memory = std::vector<line>((word_table::bytes() + 63) / 64, line{});
    word_table owner{memory.data()->bytes}, other{memory.data()->bytes};
};

TEST_F(word_table_of_a_heap, are_found_by_others_once_they_have_a_value) {
    EXPECT_EQ(other.find(0, 8), nullptr);
    ASSERT_TRUE(owner.begin(0, 8));
    EXPECT_TRUE(other.overlaps(0, 8));
    EXPECT_EQ(other.find(0, 8), nullptr);
    owner.keep(0, 8, 42);
    ASSERT_NE(other.find(0, 8), nullptr);
    EXPECT_EQ(value_of(other.find(0, 8)), 42u);
}

TEST_F(word_table_of_a_heap, overlap_ranges_that_have_a_byte_of_theirs) {
    ASSERT_TRUE(owner.begin(64, 8));
    ASSERT_TRUE(owner.begin(128, 4));
    EXPECT_FALSE(other.overlaps(0, 64));
    EXPECT_TRUE(other.overlaps(0, 65));
    EXPECT_TRUE(other.overlaps(71, 1));
    EXPECT_FALSE(other.overlaps(72, 56));
    EXPECT_TRUE(other.overlaps(131, 100));
    EXPECT_FALSE(other.overlaps(132, 100));
}

TEST_F(word_table_of_a_heap, have_no_value_while_they_are_loaded_anew) {
    ASSERT_TRUE(owner.begin(8, 8));
    owner.keep(8, 8, 1);
    owner.reload(8, 8);
    EXPECT_EQ(other.find(8, 8), nullptr);
    owner.keep(8, 8, 2);
    ASSERT_NE(other.find(8, 8), nullptr);
    EXPECT_EQ(value_of(other.find(8, 8)), 2u);
}

TEST_F(word_table_of_a_heap, make_room_when_they_are_removed) {
    for (std::size_t i = 0; i < word_table::most_words; ++i) ASSERT_TRUE(owner.begin(8 * i, 8));
    owner.remove(80, 8);
    EXPECT_FALSE(other.overlaps(80, 8));
    EXPECT_TRUE(owner.begin(80, 4));
    EXPECT_FALSE(owner.knows(80, 8));
    EXPECT_TRUE(owner.knows(80, 4));
}

TEST_F(word_table_of_a_heap, without_room_may_be_anywhere) {
    for (std::size_t i = 0; i < word_table::most_words; ++i) ASSERT_TRUE(owner.begin(8 * i, 8));
    EXPECT_FALSE(other.overlaps(std::size_t{1} << 30, 8));
    EXPECT_FALSE(owner.begin(std::size_t{1} << 20, 8));
    EXPECT_TRUE(other.overlaps(std::size_t{1} << 30, 8));
}

TEST_F(word_table_of_a_heap, of_another_size_at_the_same_place_are_not_taken) {
    ASSERT_TRUE(owner.begin(16, 8));
    EXPECT_FALSE(owner.begin(20, 4));
    EXPECT_FALSE(owner.knows(20, 4));
}

} // namespace
} // namespace causeway::endpoints
