// SPDX-License-Identifier: Apache-2.0
// The option table: text, limits, environment.
#include "base/error.hpp"
#include "base/options.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

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

TEST(options, are_switched_by_either_spelling) {
    for (const auto& row : option_table()) {
        if (row.kind != option_row::value_kind::on_off) continue;
        options settings;
        for (const auto& [text, value] :
             {std::pair("1", "on"), std::pair("0", "off"), std::pair("on", "on"), std::pair("off", "off")}) {
            settings.set(row.name, text, options::origin::environment);
            EXPECT_EQ(settings.get(row.name), value) << row.name << "=" << text;
        }
        for (const char* const bad : {"", "2", "yes", "ON", "01"})
            EXPECT_THROW(settings.set(row.name, bad, options::origin::environment), transfer_error)
                << row.name << "=" << bad;
    }
}

TEST(options, of_the_platform_are_refused_to_a_program_and_not_changed) {
    for (const auto& row : option_table()) {
        if (row.reader != option_reader::platform) continue;
        options settings;
        const auto before = settings.get(row.name);
        try {
            settings.set(row.name, "1");
            FAIL() << row.name << " was taken";
        } catch (const transfer_error& error) {
            EXPECT_EQ(error.code(), status::invalid_operation);
            EXPECT_NE(std::string(error.what()).find("environment alone"), std::string::npos) << error.what();
        }
        EXPECT_EQ(settings.get(row.name), before);
    }
}

TEST(options, that_are_wrong_in_the_environment_are_told_once_by_who_reads_them) {
    const char* const environment[] = {"CAUSEWAY_DEPTH=much", "CAUSEWAY_WATCHDOG=never", "CAUSEWAY_STRICT=on",
                                       "CAUSEWAY_SPEED=1", nullptr};
    const auto said_by = [&](option_reader reader) {
        options settings;
        ::testing::internal::CaptureStderr();
        settings.read_environment(environment, reader);
        EXPECT_EQ(settings[option::strict], 1u);
        EXPECT_EQ(settings[option::watchdog], 60u);
        return ::testing::internal::GetCapturedStderr();
    };
    const auto platform = said_by(option_reader::platform), library = said_by(option_reader::library);
    EXPECT_NE(platform.find("CAUSEWAY_WATCHDOG is ignored: option watchdog: 'never' is not seconds from 0 to 86400"),
              std::string::npos)
        << platform;
    EXPECT_EQ(std::count(platform.begin(), platform.end(), '\n'), 1) << platform;
    EXPECT_NE(library.find("CAUSEWAY_DEPTH"), std::string::npos) << library;
    EXPECT_NE(library.find("CAUSEWAY_SPEED"), std::string::npos) << library;
    EXPECT_EQ(std::count(library.begin(), library.end(), '\n'), 2) << library;
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

TEST(error, carries_a_failure_whole) {
    const failure known{status::io_error, 5, 7, "writing: Input/output error"};
    const auto thrown = transfer_error(known).as_failure();
    EXPECT_EQ(thrown.status, known.status);
    EXPECT_EQ(thrown.error_number, known.error_number);
    EXPECT_EQ(thrown.mpi_error_class, known.mpi_error_class);
    EXPECT_EQ(thrown.message, known.message);
}
