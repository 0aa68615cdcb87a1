// SPDX-License-Identifier: Apache-2.0
// The option table: text, limits, environment.
#include "base/error.hpp"
#include "base/options.hpp"

#include <gtest/gtest.h>

using namespace causeway;

TEST(options, begin_with_the_defaults_of_the_table) {
    const options settings;
    for (const auto& row : option_table()) EXPECT_TRUE(settings.get(row.name)) << row.name;
    EXPECT_EQ(settings[option::staging], 256ull << 20);
    EXPECT_EQ(settings.get("strategy"), "auto");
}

TEST(options, take_sizes_with_suffixes) {
    options settings;
    settings.set("block", "64K");
    EXPECT_EQ(settings[option::block], 65536u);
    settings.set("block", "2m");
    EXPECT_EQ(settings[option::block], 2u << 20);
    settings.set("block", "1G");
    EXPECT_EQ(settings[option::block], 1u << 30);
    settings.set("block", "12");
    EXPECT_EQ(settings.get("block"), "12");
}

TEST(options, refuse_bad_values_and_keep_the_old_one) {
    options settings;
    settings.set("depth", "7");
    for (const char* const bad : {"", "-1", "7x", "7 ", "K", "99999", "1K", "99999999999999999999"})
        EXPECT_THROW(settings.set("depth", bad), transfer_error) << bad;
    EXPECT_EQ(settings[option::depth], 7u);
    EXPECT_THROW(settings.set("strategy", "fastest"), transfer_error);
    EXPECT_THROW(settings.set("nonsense", "1"), transfer_error);
    EXPECT_THROW(settings.set("block", "99999999999G"), transfer_error);
    EXPECT_FALSE(settings.get("nonsense"));
}

TEST(options, know_where_each_value_came_from) {
    using origin = options::origin;
    const char* const environment[] = {"CAUSEWAY_BLOCK=8K", "CAUSEWAY_DEPTH=many", nullptr};
    options settings;
    settings.read_environment(environment);
    settings.set("lanes", "3");
    EXPECT_EQ(settings.origin_of(option::block), origin::environment);
    EXPECT_EQ(settings.origin_of(option::lanes), origin::program);
    EXPECT_EQ(settings.origin_of(option::depth), origin::table);
}

TEST(options, name_the_nearest_right_one_for_a_wrong_name) {
    options settings;
    try {
        settings.set("strategie", "auto");
        FAIL() << "it was taken";
    } catch (const transfer_error& error) {
        EXPECT_STREQ(error.what(), "no option is called 'strategie'; did you mean strategy?");
    }
}

TEST(options, keep_texts_as_they_are) {
    options settings;
    EXPECT_EQ(settings.text(option::trace), "");
    settings.set("trace", "a folder/with 1K.json");
    EXPECT_EQ(settings.text(option::trace), "a folder/with 1K.json");
    EXPECT_EQ(settings.get("trace"), "a folder/with 1K.json");
}

TEST(options, come_from_the_environment_and_survive_what_is_wrong_there) {
    const char* const environment[] = {"PATH=/bin",           "CAUSEWAY_BLOCK=8K", "CAUSEWAY_DEPTH=many",
                                       "CAUSEWAY_NONSENSE=1", "CAUSEWAY_LANES=3",  nullptr};
    options settings;
    settings.read_environment(environment);
    EXPECT_EQ(settings[option::block], 8192u);
    EXPECT_EQ(settings[option::depth], 0u);
    EXPECT_EQ(settings[option::lanes], 3u);
}

TEST(error, names_sizes_by_their_largest_whole_unit) {
    EXPECT_EQ(bytes_text(0), "0 B");
    EXPECT_EQ(bytes_text(1000), "1000 B");
    EXPECT_EQ(bytes_text(4096), "4 KiB");
    EXPECT_EQ(bytes_text(12ull << 20), "12 MiB");
    EXPECT_EQ(bytes_text(3ull << 40), "3 TiB");
}
