// SPDX-License-Identifier: Apache-2.0
// The right word for a wrong one.
#include "base/nearest_word.hpp"

#include <gtest/gtest.h>

#include <vector>

using causeway::nearest_word;

namespace {
const std::vector<std::string> known = {"perf", "info", "trace", "--routes", "--sizes"};
}

TEST(nearest_word, is_found_behind_a_slip) {
    EXPECT_EQ(nearest_word("prf", known), "perf");
    EXPECT_EQ(nearest_word("pref", known), "perf");
    EXPECT_EQ(nearest_word("trcae", known), "trace");
    EXPECT_EQ(nearest_word("--rotes", known), "--routes");
}

TEST(nearest_word, is_none_where_none_is_near) {
    EXPECT_EQ(nearest_word("something", known), "");
    EXPECT_EQ(nearest_word("", known), "");
    EXPECT_EQ(nearest_word("perf", {}), "");
}
