// SPDX-License-Identifier: Apache-2.0
// Ranges of one piece of memory.
#include "endpoints/device/address_ranges.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

using causeway::endpoints::address_ranges;

namespace {
alignas(256) std::byte memory[8192];
}

TEST(address_ranges, give_out_all_there_is_and_no_more) {
    address_ranges all(memory, sizeof memory);
    EXPECT_TRUE(all.has_room(8192));
    EXPECT_FALSE(all.has_room(8193));
    auto* const one = all.take(4096);
    auto* const other = all.take(4000);
    EXPECT_EQ(one, memory);
    EXPECT_EQ(other, memory + 4096);
    EXPECT_EQ(all.take(1), nullptr);
    all.give(one, 4096);
    EXPECT_EQ(all.take(100), memory);
    EXPECT_EQ(all.take(1), memory + 256) << "at the next multiple of 256";
}

TEST(address_ranges, join_what_is_given_back_in_any_order) {
    std::mt19937 random(1);
    for (int round = 0; round < 200; ++round) {
        address_ranges all(memory, sizeof memory);
        std::vector<std::pair<std::byte*, std::size_t>> taken;
        while (auto* const next = all.take(1 + random() % 1000)) taken.emplace_back(next, 0);
        // Each as long as the distance to the next one says.
        for (std::size_t i = 0; i < taken.size(); ++i)
            taken[i].second = static_cast<std::size_t>(
                (i + 1 < taken.size() ? taken[i + 1].first : taken[i].first + 1) - taken[i].first);
        auto* const last = taken.back().first;
        taken.pop_back();
        std::shuffle(taken.begin(), taken.end(), random);
        for (const auto& [first, bytes] : taken) all.give(first, bytes);
        EXPECT_TRUE(all.has_room(static_cast<std::size_t>(last - memory)));
    }
}
