// SPDX-License-Identifier: Apache-2.0
// Copies the same as memmove(), wherever source and target are.
#include "base/store_once.hpp"

#include <gtest/gtest.h>

#include <array>

TEST(store_once, moves_as_memmove_does) {
    constexpr std::size_t from = 100;
    alignas(8) std::array<unsigned char, 400> expected{}, found{};
    for (std::size_t to = from - 20; to <= from + 20; ++to)
        for (std::size_t bytes = 0; bytes < 200; ++bytes) {
            for (std::size_t i = 0; i < found.size(); ++i) expected[i] = found[i] = static_cast<unsigned char>(i * 7);
            std::memmove(expected.data() + to, expected.data() + from, bytes);
            causeway::store_once(found.data() + to, found.data() + from, bytes);
            ASSERT_EQ(found, expected) << bytes << " bytes to " << to;
        }
}
