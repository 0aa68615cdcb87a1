// SPDX-License-Identifier: Apache-2.0
// Options at run time, the text of the last error, the version.
#include "support/devices.hpp"
#include "support/events.hpp"

#include <causeway/causeway.h>
#include <gtest/gtest.h>

#include <string>

using namespace support;

namespace {

std::string option_value(const char* name) {
    char value[64] = "";
    return causeway_option_get(name, value, sizeof value) < 0 ? "no such option" : value;
}

} // namespace

TEST(devices_found, are_at_least_one) { EXPECT_FALSE(all_devices().empty()) << "the OpenCL loader shows no device"; }

TEST(options, give_back_what_was_set) {
    const option_scope strategy("strategy", "pinned");
    EXPECT_EQ(option_value("strategy"), "pinned");
    const option_scope depth("depth", "7");
    EXPECT_EQ(option_value("depth"), "7");
}

TEST(options, take_sizes_with_a_suffix) {
    const option_scope first("block", "64K");
    const std::string with_suffix = option_value("block");
    const option_scope second("block", "65536");
    EXPECT_EQ(option_value("block"), with_suffix);
}

TEST(options, that_are_unknown_are_refused_by_name) {
    EXPECT_EQ(causeway_option_set("speed", "1"), -1);
    EXPECT_NE(std::string(causeway_error_last_message()).find("speed"), std::string::npos);
    char value[8] = "before";
    EXPECT_EQ(causeway_option_get("speed", value, sizeof value), -1);
}

TEST(options, keep_their_value_when_a_bad_one_is_refused) {
    for (const char* name : {"strategy", "block", "depth", "lanes", "staging", "drain"}) {
        const std::string before = option_value(name);
        for (const char* bad : {"", "fast", "-1", "12Q", "99999999999999999999999"}) {
            SCOPED_TRACE(std::string(name) + "=" + bad);
            EXPECT_EQ(causeway_option_set(name, bad), -1);
            EXPECT_NE(std::string(causeway_error_last_message()), "");
            EXPECT_EQ(option_value(name), before);
        }
    }
}

TEST(options, that_are_null_are_refused) {
    EXPECT_EQ(causeway_option_set(nullptr, "1"), -1);
    EXPECT_EQ(causeway_option_set("depth", nullptr), -1);
    EXPECT_EQ(causeway_option_get(nullptr, nullptr, 0), -1);
}

TEST(options, say_the_whole_length_and_always_end_the_text) {
    const option_scope strategy("strategy", "pipelined");
    char value[5] = {'x', 'x', 'x', 'x', 'x'};
    EXPECT_EQ(causeway_option_get("strategy", value, sizeof value), 9);
    EXPECT_EQ(std::string(value), "pipe");
    EXPECT_EQ(causeway_option_get("strategy", nullptr, 0), 9);
}

TEST(version, is_that_of_the_header) { EXPECT_STREQ(causeway_version(), CAUSEWAY_VERSION); }
