// SPDX-License-Identifier: Apache-2.0
// Blocking calls whose copies go into the program's own queue: pretend_discrete.c makes devices say that they are
// cards, and counts what else a transfer would be ordered by.
#include "support/events.hpp"
#include "support/files.hpp"
#include "support/opencl_fixture.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

using namespace support;

namespace {

constexpr std::size_t KiB = 1 << 10, largest = 512 * KiB;

class blocking_calls : public device_test {
  protected:
    void SetUp() override {
        if (ordering() == nullptr) GTEST_SKIP() << "needs pretend_discrete, preloaded";
    }
    static int* ordering() { return static_cast<int*>(dlsym(RTLD_DEFAULT, "pretend_ordering")); }

    /// User events, markers and barriers that `action` takes.
    template <class Action> static int ordered_by(Action action) {
        const int before = *ordering();
        action();
        return *ordering() - before;
    }

    [[nodiscard]] static cl_int to_file(cl_command_queue queue, const buffer_handle& from, std::size_t size, int fd,
                                        cl_event* event = nullptr) {
        return clEnqueueReadBufferToFile(queue, from.get(), CL_TRUE, 0, size, fd, 0, 0, nullptr, event);
    }
    [[nodiscard]] static cl_int from_file(cl_command_queue queue, const buffer_handle& to, std::size_t size, int fd,
                                          cl_event* event = nullptr) {
        return clEnqueueWriteBufferFromFile(queue, to.get(), CL_TRUE, 0, size, fd, 0, 0, nullptr, event);
    }
    [[nodiscard]] static cl_int copy(cl_command_queue source_queue, const buffer_handle& source,
                                     cl_command_queue target_queue, const buffer_handle& target, std::size_t size) {
        return clEnqueuePeerCopyBuffer(source_queue, source.get(), target_queue, target.get(), CL_TRUE, 0, 0, size, 0,
                                       nullptr, nullptr);
    }

    const temporary_folder m_folder;
};
INSTANTIATE_TEST_SUITE_P(devices, blocking_calls, testing::ValuesIn(all_devices()), name_of);

} // namespace

TEST_P(blocking_calls, take_no_events_of_their_own_up_to_one_block) {
    const bytes contents = pattern(2 * largest);
    write_file(m_folder.path("in"), contents);
    const descriptor file = open_descriptor(m_folder.path("in"), O_RDONLY);
    const auto buffer = new_buffer(bytes(contents.size()));
    for (const auto order : {queue_order::in_order, queue_order::out_of_order}) {
        if (order == queue_order::out_of_order && !supports_out_of_order(device())) continue;
        const auto queue = new_queue(order);
        for (const std::size_t size : {std::size_t{1}, std::size_t{8}, 4 * KiB + 1, 64 * KiB, largest}) {
            SCOPED_TRACE(size);
            EXPECT_EQ(ordered_by([&] { EXPECT_EQ(from_file(queue.get(), buffer, size, file.get()), CL_SUCCESS); }), 0);
            EXPECT_TRUE(same_bytes(slice(contents, 0, size), contents_of(buffer, 0, size)));
        }
        EXPECT_GT(ordered_by([&] { EXPECT_EQ(from_file(queue.get(), buffer, largest + 1, file.get()), CL_SUCCESS); }),
                  0);
        EXPECT_TRUE(same_bytes(slice(contents, 0, largest + 1), contents_of(buffer, 0, largest + 1)));
    }
}

TEST_P(blocking_calls, come_after_what_is_in_their_queue) {
    const auto add = make_add_kernel(context(), device());
    const auto buffer = new_buffer(bytes(64 * KiB));
    const descriptor file = open_descriptor(m_folder.path("out"), O_RDWR | O_CREAT);
    for (unsigned char i = 1; i <= 5; ++i) {
        const auto running = enqueue_add(queue(), add.get(), buffer.get(), 64 * KiB, 100);
        ASSERT_EQ(to_file(queue(), buffer, 64 * KiB, file.get()), CL_SUCCESS);
        EXPECT_TRUE(
            same_bytes(bytes(64 * KiB, static_cast<unsigned char>(i * 100)), file_contents(m_folder.path("out"))));
    }
    // Nor does a write overtake them.
    const bytes contents = pattern(64 * KiB);
    write_file(m_folder.path("in"), contents);
    const descriptor source = open_descriptor(m_folder.path("in"), O_RDONLY);
    for (int i = 0; i < 5; ++i) {
        const auto running = enqueue_add(queue(), add.get(), buffer.get(), 64 * KiB, 100);
        ASSERT_EQ(from_file(queue(), buffer, 64 * KiB, source.get()), CL_SUCCESS);
        EXPECT_TRUE(same_bytes(contents, contents_of(buffer, 0, 64 * KiB)));
    }
}

TEST_P(blocking_calls, of_no_bytes_end_in_their_place) {
    const auto add = make_add_kernel(context(), device());
    const auto buffer = new_buffer(bytes(64 * KiB));
    const descriptor file = open_descriptor(m_folder.path("out"), O_RDWR | O_CREAT);
    const auto first = enqueue_add(queue(), add.get(), buffer.get(), 64 * KiB, 500);
    ASSERT_EQ(to_file(queue(), buffer, 0, file.get()), CL_SUCCESS);
    EXPECT_EQ(status_of(first.get()), CL_COMPLETE);
    const auto second = enqueue_add(queue(), add.get(), buffer.get(), 64 * KiB, 500);
    ASSERT_EQ(copy(queue(), buffer, queue(), buffer, 0), CL_SUCCESS);
    EXPECT_EQ(status_of(second.get()), CL_COMPLETE);
    if (!supports_out_of_order(device())) return;
    // Elsewhere they have none: what is held does not hold them.
    const auto unordered = new_queue(queue_order::out_of_order);
    gate held(context());
    const auto filling = enqueue_fill(unordered.get(), buffer.get(), 7, 4 * KiB, {held.event()});
    EXPECT_EQ(to_file(unordered.get(), buffer, 0, file.get()), CL_SUCCESS);
    EXPECT_GT(status_of(filling.get()), CL_COMPLETE);
    held.open();
    EXPECT_TRUE(completes(filling));
}

TEST_P(blocking_calls, wait_in_their_queue_while_others_go_on_in_theirs) {
    const bytes contents = pattern(4 * KiB);
    const auto waiting = new_buffer(bytes(4 * KiB)), other = new_buffer(contents);
    const descriptor file = open_descriptor(m_folder.path("out"), O_RDWR | O_CREAT);
    const descriptor second = open_descriptor(m_folder.path("other"), O_RDWR | O_CREAT);
    gate held(context());
    const auto filling = enqueue_fill(queue(), waiting.get(), 7, 4 * KiB, {held.event()});
    ASSERT_EQ(clFlush(queue()), CL_SUCCESS);
    std::thread blocked([&] { EXPECT_EQ(to_file(queue(), waiting, 4 * KiB, file.get()), CL_SUCCESS); });
    const auto another = new_queue();
    for (int i = 0; i < 50; ++i) EXPECT_EQ(to_file(another.get(), other, 4 * KiB, second.get()), CL_SUCCESS);
    EXPECT_TRUE(same_bytes(contents, file_contents(m_folder.path("other"))));
    held.open();
    blocked.join();
    EXPECT_TRUE(same_bytes(bytes(4 * KiB, 7), file_contents(m_folder.path("out"))));
}

TEST_P(blocking_calls, behind_what_takes_long_ask_to_be_woken) {
    const bytes contents = pattern(4 * KiB);
    write_file(m_folder.path("in"), contents);
    const descriptor file = open_descriptor(m_folder.path("in"), O_RDONLY);
    const auto buffer = new_buffer(bytes(4 * KiB));
    auto* const callbacks = static_cast<std::atomic<int>*>(dlsym(RTLD_DEFAULT, "pretend_callbacks"));
    const int before = *callbacks;
    gate held(context());
    const auto filling = enqueue_fill(queue(), buffer.get(), 7, 4 * KiB, {held.event()});
    ASSERT_EQ(clFlush(queue()), CL_SUCCESS);
    std::thread blocked([&] { EXPECT_EQ(from_file(queue(), buffer, 4 * KiB, file.get()), CL_SUCCESS); });
    const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (*callbacks == before && std::chrono::steady_clock::now() < patience) std::this_thread::yield();
    EXPECT_GT(*callbacks, before);
    held.open();
    blocked.join();
    EXPECT_TRUE(same_bytes(contents, contents_of(buffer, 0, 4 * KiB)));
}

TEST_P(blocking_calls, do_not_wait_for_kernels_of_other_queues) {
    const auto size = largest + 1; // ordered by events
    const bytes contents = pattern(size);
    const auto source = new_buffer(contents), target = new_buffer(bytes(size));
    const descriptor file = open_descriptor(m_folder.path("both"), O_RDWR | O_CREAT);
    const descriptor empty = open_descriptor(m_folder.path("empty"), O_RDWR | O_CREAT);
    kernel_elsewhere kernel(context());
    EXPECT_TRUE(kernel.is_outrun_by([&] {
        const auto second = new_queue();
        EXPECT_EQ(to_file(queue(), source, size, file.get()), CL_SUCCESS);
        EXPECT_EQ(from_file(second.get(), target, size, file.get()), CL_SUCCESS);
        EXPECT_EQ(copy(queue(), target, second.get(), source, size), CL_SUCCESS);
        EXPECT_EQ(copy(queue(), target, second.get(), source, 8), CL_SUCCESS);
        EXPECT_EQ(copy(queue(), target, second.get(), source, 0), CL_SUCCESS);
        EXPECT_NE(from_file(second.get(), target, 8, empty.get()), CL_SUCCESS); // ends in its place, with no byte
                                                                                // written
        const option_scope little("staging", "8M"); // no memory to read ahead
        EXPECT_EQ(to_file(queue(), source, 64 * KiB, file.get()), CL_SUCCESS);
    }));
    EXPECT_TRUE(same_bytes(contents, contents_of(target, 0, size)));
}

TEST_P(blocking_calls, keep_their_order_without_memory_to_read_ahead) {
    const option_scope little("staging", "8M");
    const auto add = make_add_kernel(context(), device());
    const auto source = new_buffer(bytes(64 * KiB)), target = new_buffer(bytes(64 * KiB));
    const descriptor file = open_descriptor(m_folder.path("out"), O_RDWR | O_CREAT);
    const auto second = new_queue();
    for (unsigned char i = 1; i <= 5; ++i) {
        const auto one = enqueue_add(queue(), add.get(), source.get(), 64 * KiB, 20);
        ASSERT_EQ(to_file(queue(), source, 64 * KiB, file.get()), CL_SUCCESS);
        EXPECT_TRUE(
            same_bytes(bytes(64 * KiB, static_cast<unsigned char>(i * 40 - 20)), file_contents(m_folder.path("out"))));
        const auto other = enqueue_add(second.get(), add.get(), source.get(), 64 * KiB, 20);
        ASSERT_EQ(copy(queue(), source, second.get(), target, 64 * KiB), CL_SUCCESS);
        EXPECT_TRUE(same_bytes(bytes(64 * KiB, static_cast<unsigned char>(i * 40)), contents_of(target, 0, 64 * KiB)));
    }
    if (!supports_out_of_order(device())) return;
    const auto unordered = new_queue(queue_order::out_of_order);
    gate held(context());
    const auto filling = enqueue_fill(unordered.get(), target.get(), 7, 4 * KiB, {held.event()});
    EXPECT_EQ(to_file(unordered.get(), source, 64 * KiB, file.get()), CL_SUCCESS);
    EXPECT_GT(status_of(filling.get()), CL_COMPLETE) << "what is held does not hold the transfer";
    held.open();
    EXPECT_TRUE(completes(filling));
}

TEST_P(blocking_calls, of_several_threads_share_a_queue) {
    constexpr int threads = 4, rounds = 50;
    std::vector<std::thread> all;
    for (int t = 0; t < threads; ++t) {
        all.emplace_back([&, t] {
            const bytes contents = pattern(8 * KiB, unsigned(t) + 1);
            const auto name = "file" + std::to_string(t);
            write_file(m_folder.path(name), contents);
            const descriptor file = open_descriptor(m_folder.path(name), O_RDWR);
            const auto buffer = new_buffer(bytes(8 * KiB)), target = new_buffer(bytes(8 * KiB));
            for (int i = 0; i < rounds; ++i) {
                EXPECT_EQ(from_file(queue(), buffer, 8 * KiB, file.get()), CL_SUCCESS);
                EXPECT_EQ(copy(queue(), buffer, queue(), target, 8 * KiB), CL_SUCCESS);
                EXPECT_EQ(to_file(queue(), target, 8 * KiB, file.get()), CL_SUCCESS);
            }
            EXPECT_TRUE(same_bytes(contents, contents_of(target, 0, 8 * KiB)));
            EXPECT_TRUE(same_bytes(contents, file_contents(m_folder.path(name))));
        });
    }
    for (auto& each : all) each.join();
}

TEST_P(blocking_calls, copy_between_two_queues_after_the_commands_of_both) {
    const auto add = make_add_kernel(context(), device());
    const auto source = new_buffer(bytes(64 * KiB)), target = new_buffer(bytes(64 * KiB));
    const auto second = new_queue();
    for (unsigned char i = 1; i <= 5; ++i) {
        const auto one = enqueue_add(queue(), add.get(), source.get(), 64 * KiB, 50);
        const auto other = enqueue_add(second.get(), add.get(), target.get(), 64 * KiB, 70);
        EXPECT_EQ(ordered_by([&] { EXPECT_EQ(copy(queue(), source, second.get(), target, 64 * KiB), CL_SUCCESS); }), 1)
            << "a mark in the target's queue";
        const bytes expected(64 * KiB, static_cast<unsigned char>(i * 50));
        EXPECT_TRUE(same_bytes(expected, contents_of(target, 0, 64 * KiB)));
    }
    // The target's queue may be where the source is written.
    for (unsigned char i = 1; i <= 5; ++i) {
        const auto other = enqueue_add(second.get(), add.get(), source.get(), 64 * KiB, 1);
        EXPECT_EQ(copy(queue(), source, second.get(), target, 64 * KiB), CL_SUCCESS);
        const bytes expected(64 * KiB, static_cast<unsigned char>(250 + i));
        EXPECT_TRUE(same_bytes(expected, contents_of(target, 0, 64 * KiB)));
    }
}

TEST_P(blocking_calls, copy_within_a_queue_by_its_own_command) {
    const bytes contents = pattern(64 * KiB);
    const auto source = new_buffer(contents), target = new_buffer(bytes(64 * KiB));
    EXPECT_EQ(ordered_by([&] { EXPECT_EQ(copy(queue(), source, queue(), target, 64 * KiB), CL_SUCCESS); }), 0);
    EXPECT_TRUE(same_bytes(contents, contents_of(target, 0, 64 * KiB)));
}

TEST_P(blocking_calls, begin_when_earlier_transfers_of_their_queue_are_over) {
    const bytes contents = pattern(64 * KiB);
    const descriptor file = open_descriptor(m_folder.path("both"), O_RDWR | O_CREAT);
    for (int i = 0; i < 20; ++i) {
        ASSERT_EQ(ftruncate(file.get(), 0), 0);
        const auto written = new_buffer(contents), read = new_buffer(bytes(64 * KiB));
        gate held(context());
        const auto filling = enqueue_fill(queue(), read.get(), 1, 64 * KiB, {held.event()});
        const auto writing = read_buffer_to(queue(), written.get(), 0, 64 * KiB, file.get(), 0);
        std::thread opening([&] { held.open(); });
        EXPECT_EQ(from_file(queue(), read, 64 * KiB, file.get()), CL_SUCCESS);
        opening.join();
        EXPECT_TRUE(completes(writing));
        EXPECT_TRUE(same_bytes(contents, contents_of(read, 0, 64 * KiB)));
    }
}

TEST_P(blocking_calls, that_fail_say_why_and_hold_back_nothing) {
    write_file(m_folder.path("short"), pattern(100));
    const descriptor file = open_descriptor(m_folder.path("short"), O_RDONLY);
    const bytes before = pattern(4 * KiB, 3);
    const auto buffer = new_buffer(before);
    event_handle event;
    EXPECT_EQ(from_file(queue(), buffer, 4 * KiB, file.get(), event.out()), CL_TRANSFER_END_OF_FILE);
    EXPECT_EQ(status_of(event.get()), CL_TRANSFER_END_OF_FILE);
    std::size_t moved = 0;
    EXPECT_EQ(clGetTransferInfo(event.get(), CL_TRANSFER_BYTES_MOVED, sizeof moved, &moved, nullptr), CL_SUCCESS);
    EXPECT_EQ(moved, 100u);
    EXPECT_TRUE(same_bytes(join(pattern(100), slice(before, 100, 4 * KiB - 100)), contents_of(buffer, 0, 4 * KiB)));
    EXPECT_EQ(clFinish(queue()), CL_SUCCESS);
    const auto filling = enqueue_fill(queue(), buffer.get(), 9, 4 * KiB);
    EXPECT_EQ(clFinish(queue()), CL_SUCCESS);
    EXPECT_TRUE(same_bytes(bytes(4 * KiB, 9), contents_of(buffer, 0, 4 * KiB)));
}
