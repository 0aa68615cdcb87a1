// SPDX-License-Identifier: Apache-2.0
// Measuring, on request and in passing, and transfers whose plans come from figures.
#include "support/events.hpp"
#include "support/files.hpp"
#include "support/opencl_fixture.hpp"

#include <causeway/tuner.h>

#include <fcntl.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

using namespace support;

namespace {

constexpr std::size_t mib = 1 << 20;

std::string figures() {
    std::string text(1 << 20, '\0');
    const auto length = causeway_tuner_figures(text.data(), text.size());
    EXPECT_GT(length, 0);
    text.resize(static_cast<std::size_t>(std::max(length, 0L)));
    return text;
}

bool knows(const std::string& operation) {
    return figures().find("\"operation\": \"" + operation + "\"") != std::string::npos;
}

/// The tuner works, and keeps its figures where no other test meets them.
class tuned : public device_test {
  protected:
    tuned() { (void)causeway_tuner_clear(); }
    ~tuned() override { (void)causeway_tuner_clear(); }
    const option_scope m_automatic{"tuner", "auto"};
};

} // namespace

TEST_P(tuned, measures_the_device_of_a_queue) {
    ASSERT_EQ(causeway_tune_device(queue()), CL_SUCCESS) << causeway_error_last_message();
    EXPECT_TRUE(knows("copy in") && knows("copy out"));
    EXPECT_FALSE(knows("read"));
    ASSERT_EQ(causeway_tuner_clear(), CL_SUCCESS);
    EXPECT_FALSE(knows("copy in"));
}

TEST_P(tuned, measures_the_file_system_of_a_directory_and_leaves_nothing_there) {
    const temporary_folder folder;
    ASSERT_EQ(causeway_tune_directory(folder.path("").c_str()), CL_SUCCESS) << causeway_error_last_message();
    EXPECT_TRUE(knows("read") && knows("write"));
    EXPECT_TRUE(std::filesystem::is_empty(folder.path("")));
}

TEST_P(tuned, refuses_what_cannot_be_measured) {
    EXPECT_EQ(causeway_tune_device(nullptr), CL_INVALID_COMMAND_QUEUE);
    EXPECT_EQ(causeway_tune_directory(nullptr), CL_INVALID_VALUE);
    EXPECT_EQ(causeway_tune_directory("/nonexistent"), CL_INVALID_VALUE);
    EXPECT_NE(std::string(causeway_error_last_message()).find("/nonexistent"), std::string::npos);
    for (const char* const mode : {"fixed", "off"}) {
        const option_scope other("tuner", mode);
        EXPECT_EQ(causeway_tune_device(queue()), CL_INVALID_OPERATION);
        EXPECT_EQ(causeway_tune_directory("/tmp"), CL_INVALID_OPERATION);
    }
}

TEST_P(tuned, says_how_long_its_figures_are_whatever_room_there_is) {
    const auto length = causeway_tuner_figures(nullptr, 0);
    ASSERT_GT(length, 0);
    char little[4] = "abc";
    EXPECT_EQ(causeway_tuner_figures(little, sizeof little), length);
    EXPECT_EQ(little[3], '\0');
    EXPECT_EQ(little[0], '{');
}

TEST_P(tuned, moves_the_right_bytes_whatever_the_figures_choose) {
    const temporary_folder folder;
    ASSERT_EQ(causeway_tune_device(queue()), CL_SUCCESS) << causeway_error_last_message();
    ASSERT_EQ(causeway_tune_directory(folder.path("").c_str()), CL_SUCCESS) << causeway_error_last_message();
    const auto contents = pattern(8 * mib + 12'345);
    write_file(folder.path("input"), contents);
    const auto input = open_descriptor(folder.path("input"), O_RDONLY);
    const auto output = open_descriptor(folder.path("output"), O_RDWR | O_CREAT);
    const auto buffer = new_buffer(contents.size());
    for (std::size_t size = 1; size <= contents.size(); size = size * 5 + 3) {
        const auto at = static_cast<std::int64_t>(size / 3);
        const auto read = write_buffer_from(queue(), buffer.get(), 0, size, input.get(), 0);
        const auto written = read_buffer_to(queue(), buffer.get(), 0, size, output.get(), at);
        cl_event events[] = {read.get(), written.get()};
        ASSERT_EQ(clWaitForEvents(2, events), CL_SUCCESS);
        const bytes expected(contents.begin(), contents.begin() + static_cast<std::ptrdiff_t>(size));
        EXPECT_EQ(file_contents(folder.path("output"), at, size), expected) << size;
    }
}

TEST_P(tuned, measures_a_device_in_passing_once_it_has_been_used_for_a_while) {
    const temporary_folder folder;
    write_file(folder.path("input"), pattern(64));
    const auto input = open_descriptor(folder.path("input"), O_RDONLY);
    const auto buffer = new_buffer(64);
    for (int i = 0; i < 100; ++i) {
        const auto read = write_buffer_from(queue(), buffer.get(), 0, 64, input.get(), 0);
        cl_event event = read.get();
        ASSERT_EQ(clWaitForEvents(1, &event), CL_SUCCESS);
    }
    // Devices of one name share their figures; the first one of the process is measured.
    static bool was_measured = false;
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!knows("copy out") && !was_measured && std::chrono::steady_clock::now() < until) std::this_thread::yield();
    EXPECT_TRUE(knows("copy out") || was_measured);
    was_measured = true;
}

INSTANTIATE_TEST_SUITE_P(devices, tuned, testing::ValuesIn(all_devices()), name_of);
