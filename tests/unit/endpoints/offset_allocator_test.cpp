// SPDX-License-Identifier: Apache-2.0
// Ranges of a symmetric heap.
#include "endpoints/symmetric/last_range.hpp"
#include "endpoints/symmetric/offset_allocator.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

using causeway::endpoints::last_range;
using causeway::endpoints::offset_allocator;

namespace {

TEST(offset_allocator, gives_all_of_it_and_gets_it_back) {
    offset_allocator all(1024);
    EXPECT_EQ(all.take(1024), 0u);
    EXPECT_FALSE(all.take(1));
    all.give(0);
    EXPECT_EQ(all.largest_free(), 1024u);
}

TEST(offset_allocator, gives_bytes_at_the_end_that_fill_no_alignment) {
    offset_allocator all(100);
    EXPECT_EQ(all.take(64), 0u);
    EXPECT_FALSE(all.take(37));
    EXPECT_EQ(all.take(36), 64u);
    all.give(0);
    all.give(64);
    EXPECT_EQ(all.take(100), 0u);
    EXPECT_FALSE(all.take(1));
    all.give(0);
    EXPECT_EQ(all.largest_free(), 100u);
}

TEST(offset_allocator, finds_the_bytes_asked_for_and_no_more) {
    offset_allocator all(1024);
    ASSERT_EQ(all.take(100), 0u);
    ASSERT_EQ(all.take(1), 128u);
    EXPECT_EQ(all.find(99)->bytes, 100u);
    EXPECT_FALSE(all.find(100));
    EXPECT_EQ(all.find_or_end(100)->offset, 0u);
    EXPECT_FALSE(all.find_or_end(101));
    EXPECT_EQ(all.find(128)->bytes, 1u);
    EXPECT_FALSE(all.find(129));
}

TEST(offset_allocator, never_gives_a_byte_twice) {
    std::mt19937 random(1);
    offset_allocator all((std::size_t{1} << 16) + 37);
    std::map<std::size_t, std::size_t> taken;
    for (int round = 0; round < 20000; ++round) {
        if (random() % 2 == 0 || taken.empty()) {
            const std::size_t bytes = 1 + random() % 3000, alignment = std::size_t{1} << random() % 11;
            const auto offset = all.take(bytes, alignment);
            if (!offset) continue;
            ASSERT_EQ(*offset % alignment, 0u);
            ASSERT_LE(*offset + bytes, all.bytes());
            const auto behind = taken.lower_bound(*offset);
            ASSERT_TRUE(behind == taken.end() || *offset + bytes <= behind->first);
            ASSERT_TRUE(behind == taken.begin() || std::prev(behind)->first + std::prev(behind)->second <= *offset);
            taken[*offset] = bytes;
            ASSERT_EQ(all.find(*offset + bytes - 1)->offset, *offset);
            ASSERT_EQ(all.find(*offset)->bytes, bytes);
        } else {
            const auto which = std::next(taken.begin(), static_cast<std::ptrdiff_t>(random() % taken.size()));
            all.give(which->first);
            ASSERT_FALSE(all.find(which->first));
            taken.erase(which);
        }
    }
    for (const auto& [offset, bytes] : taken) all.give(offset);
    EXPECT_EQ(all.largest_free(), all.bytes());
}

TEST(last_range, is_forgotten_at_any_change) {
    const int heap = 0;
    last_range last;
    EXPECT_FALSE(last.has(&heap, 0, 0));
    last.keep(&heap, 7, {.offset = 64, .bytes = 100});
    EXPECT_TRUE(last.has(&heap, 7, 64));
    EXPECT_TRUE(last.has(&heap, 7, 163));
    EXPECT_FALSE(last.has(&heap, 7, 164));
    EXPECT_FALSE(last.has(&heap, 7, 63));
    EXPECT_FALSE(last.has(&heap, 8, 64));
}

// A thread may still hold a heap that another thread has ended, and find a range of it after the next heap began.
TEST(last_range, is_of_one_heap) {
    const int ended = 0, next = 0;
    last_range last;
    last.keep(&ended, 7, {.offset = 0, .bytes = 100});
    EXPECT_FALSE(last.has(&next, 7, 0));
}

} // namespace
