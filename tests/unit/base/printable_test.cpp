// SPDX-License-Identifier: Apache-2.0
// Names that would move a terminal's cursor.
#include "base/printable.hpp"

#include <gtest/gtest.h>

using causeway::printable;

TEST(printable, text_stays_as_it_is) {
    EXPECT_EQ(printable(""), "");
    EXPECT_EQ(printable("größe 4 µs → 7"), "größe 4 µs → 7");
    EXPECT_EQ(printable("\U0001f600 \uffff \u0800 \x7e"), "\U0001f600 \uffff \u0800 ~");
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

TEST(printable, what_turns_lines_or_has_no_width_is_written_out) {
    EXPECT_EQ(printable("report\u202efdp.exe"), "report\\xe2\\x80\\xaefdp.exe");
    EXPECT_EQ(printable("a\u2028b\u2069c\ufeff\u061c"), "a\\xe2\\x80\\xa8b\\xe2\\x81\\xa9c\\xef\\xbb\\xbf\\xd8\\x9c");
}

TEST(printable, bytes_that_are_no_character_are_written_out) {
    EXPECT_EQ(printable("a\x9b"
                        "2J"),
              "a\\x9b2J")
        << "which terminals of one byte for a character obey";
    EXPECT_EQ(printable("\xe2\x80"), "\\xe2\\x80") << "an end is missing";
    EXPECT_EQ(printable("\xc0\x9b\xe0\x82\x9b\xff"), "\\xc0\\x9b\\xe0\\x82\\x9b\\xff") << "too long for what it says";
}

TEST(printable, those_that_are_wanted_stay) { EXPECT_EQ(printable("a\n\tb\x1b", "\n\t"), "a\n\tb\\x1b"); }
