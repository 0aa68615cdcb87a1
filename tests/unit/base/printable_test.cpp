// SPDX-License-Identifier: Apache-2.0
// Names that would move a terminal's cursor.
#include "base/printable.hpp"

#include <gtest/gtest.h>

using causeway::printable;

TEST(printable, text_stays_as_it_is) {
    EXPECT_EQ(printable(""), "");
    EXPECT_EQ(printable("größe 4 µs → 7"), "größe 4 µs → 7");
}

TEST(printable, control_characters_are_written_out) {
    EXPECT_EQ(printable("a\x1b[2Jb"), "a\\x1b[2Jb");
    EXPECT_EQ(printable("a\r\n\tb\x7f"), "a\\x0d\\x0a\\x09b\\x7f");
    EXPECT_EQ(printable("\xc2\x9b"
                        "2J"),
              "\\xc2\\x9b2J")
        << "the same sequence in one character of Latin 1";
    EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\\x00b");
}

TEST(printable, those_that_are_wanted_stay) { EXPECT_EQ(printable("a\n\tb\x1b", "\n\t"), "a\n\tb\\x1b"); }
