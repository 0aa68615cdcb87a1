// SPDX-License-Identifier: Apache-2.0
// Words that a user types.
#include "words.hpp"

#include <gtest/gtest.h>

namespace causeway_tool {
namespace {

const std::vector<std::string> known = {"perf", "info", "trace", "--routes", "--sizes"};

TEST(words, suggests_the_nearest_right_one) {
    EXPECT_EQ(suggestion("--size", known), "; did you mean --sizes?");
    EXPECT_EQ(suggestion("xyz", known), "");
}

TEST(words, reads_sizes_with_units) {
    EXPECT_EQ(size_from("8", "--sizes"), 8U);
    EXPECT_EQ(size_from("64K", "--sizes"), std::size_t{64} << 10U);
    EXPECT_EQ(size_from("16m", "--sizes"), std::size_t{16} << 20U);
    EXPECT_EQ(size_from("1G", "--sizes"), std::size_t{1} << 30U);
}

TEST(words, refuses_what_is_no_size) {
    for (const char* wrong : {"", "K", "0", "0M", "-1", "1.5M", "1T", "1MB", "99999999999999999999", "99999999999999G"})
        EXPECT_THROW((void)size_from(wrong, "--sizes"), usage_error) << wrong;
}

TEST(words, writes_sizes_in_the_largest_whole_unit) {
    EXPECT_EQ(size_text(8), "8 B");
    EXPECT_EQ(size_text(1000), "1000 B");
    EXPECT_EQ(size_text(64 << 10), "64 KiB");
    EXPECT_EQ(size_text((1 << 20) + (1 << 10)), "1025 KiB");
    EXPECT_EQ(size_text(std::size_t{3} << 30U), "3 GiB");
}

} // namespace
} // namespace causeway_tool
