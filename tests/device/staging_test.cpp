// SPDX-License-Identifier: Apache-2.0
// Many transfers at once under a tiny cap on staging memory: all finish, all are correct.
#include "support/events.hpp"
#include "support/files.hpp"
#include "support/opencl_fixture.hpp"

#include <causeway/causeway.h>

#include <fcntl.h>

#include <functional>
#include <random>
#include <thread>

using namespace support;

namespace {

constexpr std::size_t largest = 1'500'000;

/// One transfer of the storm and what its result must be.
struct planned {
    bool into_buffer = false;
    std::size_t size = 0;
    std::uint64_t seed = 0;
};

class staging : public device_test {
  protected:
    /// 64 transfers of random kinds and sizes between eight files and 64 buffers, on eight queues; `meanwhile` happens
    /// while they run.
    void run_storm(const std::function<void()>& meanwhile = [] {}) {
        constexpr std::size_t transfer_count = 64;
        constexpr std::size_t lane_count = 8;
        std::mt19937 random(20'240'101);
        const temporary_folder folder;
        const auto name = [&](std::size_t i) { return folder.path(std::to_string(i)); };

        std::vector<planned> plans;
        std::vector<descriptor> files;
        std::vector<buffer_handle> buffers;
        for (std::size_t i = 0; i < transfer_count; ++i) {
            plans.push_back({random() % 2 == 0, random() % largest, random()});
            const planned& plan = plans.back();
            write_file(name(i), plan.into_buffer ? pattern(plan.size, plan.seed) : bytes());
            files.push_back(open_descriptor(name(i), O_RDWR));
            buffers.push_back(new_buffer(plan.into_buffer ? bytes(plan.size + 1) : pattern(plan.size + 1, plan.seed)));
        }
        std::vector<queue_handle> queues;
        for (std::size_t i = 0; i < lane_count; ++i) {
            queues.push_back(new_queue());
        }

        gate start(context());
        std::vector<event_handle> done;
        for (std::size_t i = 0; i < transfer_count; ++i) {
            const cl_command_queue on = queues[i % lane_count].get();
            done.push_back(
                plans[i].into_buffer
                    ? write_buffer_from(on, buffers[i].get(), 0, plans[i].size, files[i].get(), 0, {start.event()})
                    : read_buffer_to(on, buffers[i].get(), 0, plans[i].size, files[i].get(), 0, {start.event()}));
        }
        start.open();
        meanwhile();
        for (std::size_t i = 0; i < transfer_count; ++i) {
            SCOPED_TRACE(testing::Message() << "transfer " << i << ", " << plans[i].size << " bytes");
            ASSERT_TRUE(completes(done[i]));
            EXPECT_EQ(bytes_moved(done[i]), plans[i].size);
            EXPECT_TRUE(
                same_bytes(pattern(plans[i].size, plans[i].seed),
                           plans[i].into_buffer ? contents_of(buffers[i], 0, plans[i].size) : file_contents(name(i))));
        }
    }
};
INSTANTIATE_TEST_SUITE_P(devices, staging, testing::ValuesIn(all_devices()), name_of);

} // namespace

TEST_P(staging, serves_every_strategy_with_a_cap_of_two_blocks) {
    for (const char* name : {"auto", "mapped", "pinned", "pipelined"}) {
        SCOPED_TRACE(name);
        const option_scope strategy("strategy", name);
        const option_scope block("block", "64K");
        const option_scope cap("staging", "128K");
        run_storm();
    }
}

TEST_P(staging, serves_every_strategy_with_a_cap_of_some_blocks) {
    for (const char* name : {"auto", "mapped", "pinned", "pipelined"}) {
        SCOPED_TRACE(name);
        const option_scope strategy("strategy", name);
        const option_scope block("block", "64K");
        const option_scope cap("staging", "400K");
        run_storm();
    }
}

TEST_P(staging, serves_transfers_whose_own_blocks_would_be_larger_than_the_cap) {
    for (const char* name : {"pinned", "pipelined"}) {
        SCOPED_TRACE(name);
        const option_scope strategy("strategy", name);
        const option_scope block("block", "1M");
        const option_scope cap("staging", "64K");
        run_storm();
    }
}

TEST_P(staging, serves_the_smallest_cap_there_is) {
    const option_scope strategy("strategy", "pipelined");
    const option_scope cap("staging", "8K");
    const temporary_folder folder;
    write_file(folder.path("in"), pattern(500'001));
    const descriptor input = open_descriptor(folder.path("in"), O_RDONLY);
    const descriptor output = open_descriptor(folder.path("out"), O_WRONLY | O_CREAT);
    const auto buffer = new_buffer(bytes(500'001));
    const auto other_queue = new_queue();
    const auto read = write_buffer_from(queue(), buffer.get(), 0, 500'001, input.get(), 0);
    const auto written = read_buffer_to(other_queue.get(), buffer.get(), 0, 500'001, output.get(), 0, {read.get()});
    ASSERT_TRUE(completes(written));
    EXPECT_TRUE(same_bytes(pattern(500'001), file_contents(folder.path("out"))));
}

TEST_P(staging, lowered_below_what_a_waiting_transfer_holds_starves_no_other) {
    const option_scope strategy("strategy", "pipelined");
    const option_scope cap("staging", "1M");
    auto [reading, writing] = make_pipe();
    const stream file = open_stream(std::move(reading), "r");
    const bytes contents = pattern(500'000);
    const auto slow_buffer = new_buffer(bytes(500'000));
    const auto quick_buffer = new_buffer(contents);
    const auto other_queue = new_queue();
    const temporary_folder folder;
    const descriptor output = open_descriptor(folder.path("out"), O_WRONLY | O_CREAT);

    const auto slow = write_buffer_from(queue(), slow_buffer.get(), 0, 500'000, file.get());
    ASSERT_TRUE(write_all(writing.get(), slice(contents, 0, 1000)));
    ASSERT_TRUE(eventually([&] { return transfer_info<cl_int>(slow, CL_TRANSFER_STATUS) == CL_RUNNING; }));
    const option_scope lowered("staging", "16K");
    EXPECT_TRUE(completes(read_buffer_to(other_queue.get(), quick_buffer.get(), 0, 500'000, output.get(), 0)));
    EXPECT_GT(status_of(slow.get()), CL_COMPLETE);
    ASSERT_TRUE(write_all(writing.get(), slice(contents, 1000, 499'000)));
    ASSERT_TRUE(completes(slow));
    EXPECT_TRUE(same_bytes(contents, contents_of(slow_buffer, 0, 500'000)));
    EXPECT_TRUE(same_bytes(contents, file_contents(folder.path("out"))));
}

TEST_P(staging, serves_running_transfers_and_those_behind_them_when_the_cap_is_lowered) {
    for (const char* name : {"auto", "pinned", "pipelined"}) {
        SCOPED_TRACE(name);
        const option_scope strategy("strategy", name);
        const option_scope block("block", "256K");
        const option_scope cap("staging", "2M");
        run_storm([] {
            for (const char* lower : {"1M", "300K", "64K", "8K"}) {
                ASSERT_EQ(causeway_option_set("staging", lower), 0) << causeway_error_last_message();
                std::this_thread::yield();
            }
        });
    }
}

TEST_P(staging, a_transfer_that_waits_for_its_pipe_starves_no_other) {
    const option_scope strategy("strategy", "pipelined");
    const option_scope block("block", "64K");
    const option_scope cap("staging", "128K");
    auto [reading, writing] = make_pipe();
    const stream file = open_stream(std::move(reading), "r");
    const bytes contents = pattern(500'000);
    const auto slow_buffer = new_buffer(bytes(500'000));
    const auto quick_buffer = new_buffer(contents);
    const auto other_queue = new_queue();
    const temporary_folder folder;
    const descriptor output = open_descriptor(folder.path("out"), O_WRONLY | O_CREAT);

    const auto slow = write_buffer_from(queue(), slow_buffer.get(), 0, 500'000, file.get());
    ASSERT_TRUE(write_all(writing.get(), slice(contents, 0, 1000)));
    ASSERT_TRUE(eventually([&] { return transfer_info<cl_int>(slow, CL_TRANSFER_STATUS) == CL_RUNNING; }));
    EXPECT_TRUE(completes(read_buffer_to(other_queue.get(), quick_buffer.get(), 0, 500'000, output.get(), 0)));
    EXPECT_GT(status_of(slow.get()), CL_COMPLETE);
    ASSERT_TRUE(write_all(writing.get(), slice(contents, 1000, 499'000)));
    ASSERT_TRUE(completes(slow));
    EXPECT_TRUE(same_bytes(contents, contents_of(slow_buffer, 0, 500'000)));
}
