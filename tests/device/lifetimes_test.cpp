// SPDX-License-Identifier: Apache-2.0
// Objects released right after the enqueue, many pending transfers, an idle process, many enqueueing threads.
#include "support/events.hpp"
#include "support/files.hpp"
#include "support/opencl_fixture.hpp"

#include <fcntl.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

using namespace support;

namespace {

constexpr std::size_t MiB = 1 << 20;

std::ptrdiff_t thread_count() {
    using iterator = std::filesystem::directory_iterator;
    return std::distance(iterator("/proc/self/task"), iterator());
}

/// Processor time of each thread of this process, in nanoseconds, by number and name.
std::map<std::string, std::uint64_t> processor_times() {
    std::map<std::string, std::uint64_t> times;
    for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
        std::string name;
        std::uint64_t nanoseconds = 0;
        std::ifstream(thread.path() / "comm") >> name;
        std::ifstream(thread.path() / "schedstat") >> nanoseconds;
        times[thread.path().filename().string() + " " + name] = nanoseconds;
    }
    return times;
}

/// Each pending transfer on a descriptor holds a duplicate of it: more than many systems allow unasked.
void allow_many_descriptors() {
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

/// True if some whole second passes with at most 2 % of one processor used; several tries let runtimes calm down.
testing::AssertionResult comes_to_rest() {
    constexpr std::uint64_t most = 20'000'000;
    std::ostringstream busy;
    for (int i = 0; i < 8; ++i) {
        const auto before = processor_times();
        std::this_thread::sleep_for(std::chrono::seconds(1)); // the span that is measured
        std::uint64_t total = 0;
        busy.str("");
        for (const auto& [thread, nanoseconds] : processor_times()) {
            const auto known = before.find(thread);
            const std::uint64_t used = nanoseconds - (known == before.end() ? 0 : known->second);
            total += used;
            busy << (used > most / 10 ? thread + ": " + std::to_string(used) + " ns; " : "");
        }
        if (total <= most) {
            return testing::AssertionSuccess();
        }
    }
    return testing::AssertionFailure() << "while nothing happens, in one second: " << busy.str();
}

class lifetimes : public device_test {
  protected:
    lifetimes() : m_file(open_descriptor(m_folder.path("file"), O_RDWR | O_CREAT)) {}

    [[nodiscard]] int fd() const { return m_file.get(); }
    [[nodiscard]] std::string path() const { return m_folder.path("file"); }

  private:
    temporary_folder m_folder;
    descriptor m_file;
};
INSTANTIATE_TEST_SUITE_P(devices, lifetimes, testing::ValuesIn(all_devices()), name_of);

} // namespace

TEST_P(lifetimes, buffer_and_queue_may_be_released_right_after_the_enqueue) {
    const bytes contents = pattern(2 * MiB);
    auto buffer = new_buffer(contents);
    auto own_queue = new_queue();
    gate start(context());
    const auto done = read_buffer_to(own_queue.get(), buffer.get(), 0, contents.size(), fd(), 0, {start.event()});
    buffer.release();
    own_queue.release();
    start.open();
    ASSERT_TRUE(completes(done));
    EXPECT_TRUE(same_bytes(contents, file_contents(path())));
}

TEST_P(lifetimes, a_context_may_be_released_right_after_the_enqueue) {
    const bytes contents = pattern(2 * MiB);
    auto own_context = make_context({device()});
    auto own_queue = make_queue(own_context.get(), device(), queue_order::in_order);
    auto buffer = make_buffer(own_context.get(), contents.size());
    fill(own_queue.get(), buffer.get(), 0, contents);
    gate start(own_context.get());
    const auto done = read_buffer_to(own_queue.get(), buffer.get(), 0, contents.size(), fd(), 0, {start.event()});
    buffer.release();
    own_queue.release();
    own_context.release();
    start.open();
    ASSERT_TRUE(completes(done));
    EXPECT_TRUE(same_bytes(contents, file_contents(path())));
}

TEST_P(lifetimes, wait_list_events_may_be_released_right_after_the_enqueue) {
    const bytes contents = pattern(2 * MiB);
    const auto buffer = new_buffer(bytes(contents.size()));
    const auto source = new_buffer(contents);
    const auto other_queue = new_queue();
    gate start(context());
    const cl_event gate_list[] = {start.event()};
    event_handle copied;
    ASSERT_EQ(clEnqueueCopyBuffer(other_queue.get(), source.get(), buffer.get(), 0, 0, contents.size(), 1, gate_list,
                                  copied.out()),
              CL_SUCCESS);
    clFlush(other_queue.get());
    auto first = read_buffer_to(queue(), buffer.get(), 0, MiB, fd(), 0, {copied.get()});
    copied.release();
    const auto second = read_buffer_to(queue(), buffer.get(), MiB, MiB, fd(), MiB, {first.get()});
    first.release();
    start.open();
    ASSERT_TRUE(completes(second));
    EXPECT_TRUE(same_bytes(contents, file_contents(path())));
}

TEST_P(lifetimes, the_event_itself_may_be_released_right_after_the_enqueue) {
    const bytes contents = pattern(2 * MiB);
    const auto buffer = new_buffer(contents);
    read_buffer_to(queue(), buffer.get(), 0, contents.size(), fd(), 0).release();
    ASSERT_EQ(clFinish(queue()), CL_SUCCESS);
    EXPECT_TRUE(same_bytes(contents, file_contents(path())));
}

TEST_P(lifetimes, a_finished_transfer_keeps_no_buffer_alive) {
    auto buffer = new_buffer(pattern(1000));
    std::atomic<bool> destroyed{false};
    const auto note = [](cl_mem, void* data) { static_cast<std::atomic<bool>*>(data)->store(true); };
    ASSERT_EQ(clSetMemObjectDestructorCallback(buffer.get(), note, &destroyed), CL_SUCCESS);
    const auto done = read_buffer_to(queue(), buffer.get(), 0, 1000, fd(), 0);
    buffer.release();
    ASSERT_TRUE(completes(done));
    EXPECT_TRUE(eventually([&] { return destroyed.load(); }));
}

TEST_P(lifetimes, a_thousand_pending_transfers_add_no_thread_and_all_complete) {
    constexpr std::size_t count = 1000;
    constexpr std::size_t piece = 1000;
    const bytes contents = pattern(count * piece);
    const auto buffer = new_buffer(contents);
    const temporary_folder folder;
    const stream file = open_stream(folder.path("out"), "w+");
    // Whatever starts once has started after this.
    for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(completes(read_buffer_to(queue(), buffer.get(), 0, contents.size(), file.get())));
    }
    std::rewind(file.get());

    gate start(context());
    const auto threads_before = thread_count();
    std::vector<event_handle> done;
    for (std::size_t i = 0; i < count; ++i) {
        done.push_back(read_buffer_to(queue(), buffer.get(), i * piece, piece, file.get(), {start.event()}));
    }
    EXPECT_LE(thread_count(), threads_before);
    EXPECT_GT(status_of(done.front().get()), CL_COMPLETE);
    start.open();
    for (const auto& event : done) {
        ASSERT_TRUE(completes(event));
    }
    EXPECT_TRUE(same_bytes(contents, file_contents(folder.path("out"), 0, contents.size())));
    EXPECT_EQ(clFinish(queue()), CL_SUCCESS);
}

TEST_P(lifetimes, a_thousand_transfers_pending_on_gates_of_their_own_complete_in_any_order_of_opening) {
    if (!supports_out_of_order(device())) {
        GTEST_SKIP() << "the device has no out-of-order queues";
    }
    constexpr std::size_t count = 1000;
    constexpr std::size_t piece = 100;
    allow_many_descriptors();
    const bytes contents = pattern(count * piece);
    const auto buffer = new_buffer(contents);
    const auto free_queue = new_queue(queue_order::out_of_order);
    const auto threads_before = thread_count();
    std::vector<std::unique_ptr<gate>> gates;
    std::vector<event_handle> done;
    for (std::size_t i = 0; i < count; ++i) {
        gates.push_back(std::make_unique<gate>(context()));
        done.push_back(read_buffer_to(free_queue.get(), buffer.get(), i * piece, piece, fd(),
                                      static_cast<std::int64_t>(i * piece), {gates.back()->event()}));
    }
    EXPECT_LE(thread_count(), threads_before + 16) << "a few workers may start, never one for each transfer";
    for (std::size_t i = count; i-- > 0;) {
        gates[i]->open();
    }
    for (const auto& event : done) {
        ASSERT_TRUE(completes(event));
    }
    EXPECT_TRUE(same_bytes(contents, file_contents(path())));
    EXPECT_EQ(clFinish(free_queue.get()), CL_SUCCESS); // PoCL sorts out so many markers for seconds
}

TEST_P(lifetimes, a_process_whose_transfers_are_done_uses_no_processor) {
    const auto buffer = new_buffer(pattern(4 * MiB));
    ASSERT_TRUE(completes(read_buffer_to(queue(), buffer.get(), 0, 4 * MiB, fd(), 0)));
    EXPECT_TRUE(comes_to_rest());
}

TEST_P(lifetimes, a_process_with_a_pending_transfer_uses_no_processor) {
    const auto buffer = new_buffer(pattern(4 * MiB));
    gate start(context());
    const auto done = read_buffer_to(queue(), buffer.get(), 0, 4 * MiB, fd(), 0, {start.event()});
    EXPECT_TRUE(comes_to_rest());
    start.open();
    EXPECT_TRUE(completes(done));
}

TEST_P(lifetimes, threads_that_enqueue_on_one_queue_and_one_file_lose_nothing) {
    constexpr std::size_t thread_total = 8;
    constexpr std::size_t each = 50;
    constexpr std::size_t record = 1024;
    constexpr std::size_t total = thread_total * each;
    // Each record begins with its number and goes on with a pattern of that number.
    bytes contents;
    for (std::size_t i = 0; i < total; ++i) {
        bytes next = pattern(record, i);
        next[0] = static_cast<unsigned char>(i % 256);
        next[1] = static_cast<unsigned char>(i / 256);
        contents = join(contents, next);
    }
    const auto buffer = new_buffer(contents);
    const temporary_folder folder;
    const stream file = open_stream(folder.path("records"), "w");

    std::vector<std::vector<event_handle>> done(thread_total);
    {
        std::vector<std::jthread> threads;
        for (std::size_t t = 0; t < thread_total; ++t) {
            threads.emplace_back([&, t] {
                for (std::size_t i = 0; i < each; ++i) {
                    event_handle event;
                    if (clEnqueueReadBufferToStdioFile(queue(), buffer.get(), CL_FALSE, (t * each + i) * record, record,
                                                       file.get(), 0, nullptr, event.out()) == CL_SUCCESS) {
                        done[t].push_back(std::move(event));
                    }
                }
            });
        }
    }
    for (const auto& of_thread : done) {
        ASSERT_EQ(of_thread.size(), each);
        for (const auto& event : of_thread) {
            ASSERT_TRUE(completes(event));
        }
    }

    const bytes written = file_contents(folder.path("records"));
    ASSERT_EQ(written.size(), contents.size());
    std::vector<std::size_t> order;
    for (std::size_t at = 0; at < written.size(); at += record) {
        const std::size_t number = written[at] + std::size_t{256} * written[at + 1];
        ASSERT_LT(number, total);
        ASSERT_TRUE(same_bytes(slice(contents, number * record, record), slice(written, at, record)));
        order.push_back(number);
    }
    for (std::size_t t = 0; t < thread_total; ++t) {
        // The records of one thread keep their order.
        std::vector<std::size_t> own;
        std::copy_if(order.begin(), order.end(), std::back_inserter(own),
                     [&](std::size_t number) { return number / each == t; });
        EXPECT_EQ(own.size(), each);
        EXPECT_TRUE(std::is_sorted(own.begin(), own.end()));
    }
}
