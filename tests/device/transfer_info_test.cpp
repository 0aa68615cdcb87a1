// SPDX-License-Identifier: Apache-2.0
// What clGetTransferInfo answers, and what clCancelTransfer does.
#include "support/events.hpp"
#include "support/files.hpp"
#include "support/opencl_fixture.hpp"

#include <fcntl.h>

#include <atomic>
#include <thread>

using namespace support;

namespace {

constexpr std::size_t MiB = 1 << 20;

class transfer_information : public device_test {
  protected:
    transfer_information()
        : m_buffer(new_buffer(pattern(2 * MiB))), m_file(open_descriptor(m_folder.path("file"), O_RDWR | O_CREAT)) {}

    [[nodiscard]] cl_mem buffer() const { return m_buffer.get(); }
    [[nodiscard]] int fd() const { return m_file.get(); }
    [[nodiscard]] std::string path() const { return m_folder.path("file"); }
    [[nodiscard]] event_handle enqueue(std::size_t size, const wait_list& waits = {}) const {
        return read_buffer_to(queue(), buffer(), 0, size, fd(), 0, waits);
    }
    [[nodiscard]] bool is_host_memory() const {
        cl_bool unified = CL_FALSE;
        clGetDeviceInfo(device(), CL_DEVICE_HOST_UNIFIED_MEMORY, sizeof unified, &unified, nullptr);
        return unified != CL_FALSE;
    }

  private:
    temporary_folder m_folder;
    buffer_handle m_buffer;
    descriptor m_file;
};

class cancellation : public transfer_information {};

INSTANTIATE_TEST_SUITE_P(devices, transfer_information, testing::ValuesIn(all_devices()), name_of);
INSTANTIATE_TEST_SUITE_P(devices, cancellation, testing::ValuesIn(all_devices()), name_of);

} // namespace

TEST_P(transfer_information, the_status_agrees_with_the_event) {
    gate start(context());
    const auto done = enqueue(1000, {start.event()});
    const auto pending = transfer_info<cl_int>(done, CL_TRANSFER_STATUS);
    EXPECT_TRUE(pending == CL_QUEUED || pending == CL_SUBMITTED) << pending;
    start.open();
    ASSERT_TRUE(completes(done));
    EXPECT_EQ(transfer_info<cl_int>(done, CL_TRANSFER_STATUS), CL_COMPLETE);
}

TEST_P(transfer_information, the_status_of_a_failed_transfer_is_its_code) {
    const auto failed = write_buffer_from(queue(), buffer(), 0, 100, fd(), 0);
    ASSERT_TRUE(fails_with(failed, CL_TRANSFER_END_OF_FILE));
    EXPECT_EQ(transfer_info<cl_int>(failed, CL_TRANSFER_STATUS), CL_TRANSFER_END_OF_FILE);
}

TEST_P(transfer_information, the_command_type_names_the_function) {
    const auto type = [](const event_handle& event) {
        return transfer_info<cl_command_type>(event, CL_TRANSFER_COMMAND_TYPE);
    };
    const temporary_folder folder;
    const stream file = open_stream(folder.path("file"), "w+");
    const auto other = new_buffer(bytes(100));
    EXPECT_EQ(type(read_buffer_to(queue(), buffer(), 0, 100, fd(), 0)),
              cl_command_type{CL_COMMAND_READ_BUFFER_TO_FILE});
    EXPECT_EQ(type(write_buffer_from(queue(), buffer(), 0, 100, fd(), 0)),
              cl_command_type{CL_COMMAND_WRITE_BUFFER_FROM_FILE});
    EXPECT_EQ(type(read_buffer_to(queue(), buffer(), 0, 100, file.get())),
              cl_command_type{CL_COMMAND_READ_BUFFER_TO_FILE});
    EXPECT_EQ(type(write_buffer_from(queue(), buffer(), 0, 0, file.get())),
              cl_command_type{CL_COMMAND_WRITE_BUFFER_FROM_FILE});
    event_handle copied;
    ASSERT_EQ(
        clEnqueuePeerCopyBuffer(queue(), buffer(), queue(), other.get(), CL_FALSE, 0, 0, 100, 0, nullptr, copied.out()),
        CL_SUCCESS);
    EXPECT_EQ(type(copied), cl_command_type{CL_COMMAND_PEER_COPY_BUFFER});
    ASSERT_EQ(clFinish(queue()), CL_SUCCESS);
}

TEST_P(transfer_information, queue_and_context_are_those_of_the_enqueue) {
    const auto done = enqueue(1000);
    EXPECT_EQ(transfer_info<cl_command_queue>(done, CL_TRANSFER_COMMAND_QUEUE), queue());
    EXPECT_EQ(transfer_info<cl_context>(done, CL_TRANSFER_CONTEXT), context());
    EXPECT_TRUE(completes(done));
}

TEST_P(transfer_information, bytes_moved_grows_from_nothing_to_the_size) {
    gate start(context());
    const auto done = enqueue(2 * MiB, {start.event()});
    EXPECT_EQ(bytes_moved(done), 0U);
    start.open();
    std::size_t last = 0;
    ASSERT_TRUE(eventually([&] {
        const std::size_t now = bytes_moved(done);
        EXPECT_GE(now, last);
        last = now;
        return status_of(done.get()) == CL_COMPLETE;
    }));
    EXPECT_EQ(bytes_moved(done), 2 * MiB);
}

TEST_P(transfer_information, a_transfer_without_ranks_has_sent_and_received_nothing) {
    const auto done = enqueue(1000);
    ASSERT_TRUE(completes(done));
    EXPECT_EQ(transfer_info<std::size_t>(done, CL_TRANSFER_BYTES_SENT), 0U);
    EXPECT_EQ(transfer_info<std::size_t>(done, CL_TRANSFER_BYTES_RECEIVED), 0U);
}

TEST_P(transfer_information, the_names_of_ranks_can_be_asked_of_any_transfer) {
    const auto done = enqueue(1000);
    ASSERT_TRUE(completes(done));
    static_cast<void>(transfer_info<int>(done, CL_TRANSFER_MPI_SOURCE));
    static_cast<void>(transfer_info<int>(done, CL_TRANSFER_MPI_TAG));
    EXPECT_EQ(transfer_info<int>(done, CL_TRANSFER_MPI_ERROR_CLASS), MPI_SUCCESS);
}

TEST_P(transfer_information, a_good_transfer_has_neither_errno_nor_message) {
    const auto done = enqueue(1000);
    ASSERT_TRUE(completes(done));
    EXPECT_EQ(transfer_errno(done), 0);
    EXPECT_EQ(transfer_text(done, CL_TRANSFER_ERROR_MESSAGE), "");
}

TEST_P(transfer_information, time_stamps_are_zero_until_reached_and_then_ordered) {
    const auto now = [] {
        timespec time{};
        clock_gettime(CLOCK_MONOTONIC, &time);
        return static_cast<cl_ulong>(time.tv_sec) * 1'000'000'000U + static_cast<cl_ulong>(time.tv_nsec);
    };
    const cl_ulong before = now();
    gate start(context());
    const auto done = enqueue(2 * MiB, {start.event()});
    EXPECT_EQ(transfer_info<cl_ulong>(done, CL_TRANSFER_TIME_STARTED), 0U);
    EXPECT_EQ(transfer_info<cl_ulong>(done, CL_TRANSFER_TIME_ENDED), 0U);
    const cl_ulong opened = now();
    start.open();
    ASSERT_TRUE(completes(done));
    const cl_ulong after = now();

    const auto queued = transfer_info<cl_ulong>(done, CL_TRANSFER_TIME_QUEUED);
    const auto submitted = transfer_info<cl_ulong>(done, CL_TRANSFER_TIME_SUBMITTED);
    const auto started = transfer_info<cl_ulong>(done, CL_TRANSFER_TIME_STARTED);
    const auto ended = transfer_info<cl_ulong>(done, CL_TRANSFER_TIME_ENDED);
    EXPECT_LE(before, queued);
    EXPECT_LE(queued, opened);
    EXPECT_LE(queued, submitted);
    EXPECT_LE(submitted, started);
    EXPECT_LE(opened, started);
    EXPECT_LT(started, ended);
    EXPECT_LE(ended, after);
}

TEST_P(transfer_information, a_transfer_that_never_starts_has_an_end_and_no_start) {
    gate start(context());
    const auto failed = enqueue(1000, {start.event()});
    start.fail(-5);
    ASSERT_TRUE(fails_with(failed, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST));
    EXPECT_EQ(transfer_info<cl_ulong>(failed, CL_TRANSFER_TIME_STARTED), 0U);
    EXPECT_GE(transfer_info<cl_ulong>(failed, CL_TRANSFER_TIME_ENDED),
              transfer_info<cl_ulong>(failed, CL_TRANSFER_TIME_QUEUED));
}

TEST_P(transfer_information, the_strategy_is_reported_once_the_transfer_is_planned) {
    gate start(context());
    const auto done = enqueue(2 * MiB, {start.event()});
    EXPECT_EQ(transfer_text(done, CL_TRANSFER_STRATEGY), "");
    start.open();
    ASSERT_TRUE(completes(done));
    EXPECT_NE(transfer_text(done, CL_TRANSFER_STRATEGY), "");
    EXPECT_GT(transfer_info<std::size_t>(done, CL_TRANSFER_BLOCK_SIZE), 0U);
    EXPECT_GT(transfer_info<cl_uint>(done, CL_TRANSFER_DEPTH), 0U);
    EXPECT_GT(transfer_info<cl_uint>(done, CL_TRANSFER_LANES), 0U);
}

TEST_P(transfer_information, a_forced_strategy_is_used_and_moves_the_same_bytes) {
    for (const std::string name : {"pinned", "pipelined", "mapped"}) {
        if (name == "mapped" && !is_host_memory()) {
            continue; // it falls back where device memory is no host memory
        }
        SCOPED_TRACE(name);
        const option_scope forced("strategy", name);
        const auto target = new_buffer(bytes(2 * MiB));
        const auto written = enqueue(2 * MiB);
        const auto read = write_buffer_from(queue(), target.get(), 0, 2 * MiB, fd(), 0);
        ASSERT_TRUE(completes(written));
        ASSERT_TRUE(completes(read));
        EXPECT_EQ(transfer_text(written, CL_TRANSFER_STRATEGY), name);
        EXPECT_EQ(transfer_text(read, CL_TRANSFER_STRATEGY), name);
        EXPECT_TRUE(same_bytes(pattern(2 * MiB), contents_of(target, 0, 2 * MiB)));
    }
}

TEST_P(transfer_information, forced_block_depth_and_io_threads_are_used) {
    const option_scope strategy("strategy", "pipelined");
    const option_scope block("block", "64K");
    const option_scope depth("depth", "3");
    const option_scope lanes("lanes", "2");
    const auto done = enqueue(2 * MiB);
    ASSERT_TRUE(completes(done));
    EXPECT_EQ(transfer_info<std::size_t>(done, CL_TRANSFER_BLOCK_SIZE), 65'536U);
    EXPECT_EQ(transfer_info<cl_uint>(done, CL_TRANSFER_DEPTH), 3U);
    EXPECT_EQ(transfer_info<cl_uint>(done, CL_TRANSFER_LANES), 2U);
    EXPECT_TRUE(same_bytes(pattern(2 * MiB), file_contents(path())));
}

TEST_P(transfer_information, the_size_of_an_answer_can_be_asked_alone) {
    const auto done = enqueue(1000);
    ASSERT_TRUE(completes(done));
    const std::pair<cl_transfer_info, std::size_t> sizes[] = {
        {CL_TRANSFER_STATUS, sizeof(cl_int)},
        {CL_TRANSFER_COMMAND_TYPE, sizeof(cl_command_type)},
        {CL_TRANSFER_COMMAND_QUEUE, sizeof(cl_command_queue)},
        {CL_TRANSFER_CONTEXT, sizeof(cl_context)},
        {CL_TRANSFER_BYTES_MOVED, sizeof(std::size_t)},
        {CL_TRANSFER_BYTES_SENT, sizeof(std::size_t)},
        {CL_TRANSFER_BYTES_RECEIVED, sizeof(std::size_t)},
        {CL_TRANSFER_MPI_SOURCE, sizeof(int)},
        {CL_TRANSFER_MPI_TAG, sizeof(int)},
        {CL_TRANSFER_ERRNO, sizeof(int)},
        {CL_TRANSFER_MPI_ERROR_CLASS, sizeof(int)},
        {CL_TRANSFER_ERROR_MESSAGE, 1},
        {CL_TRANSFER_STRATEGY, transfer_text(done, CL_TRANSFER_STRATEGY).size() + 1},
        {CL_TRANSFER_BLOCK_SIZE, sizeof(std::size_t)},
        {CL_TRANSFER_DEPTH, sizeof(cl_uint)},
        {CL_TRANSFER_LANES, sizeof(cl_uint)},
        {CL_TRANSFER_TIME_QUEUED, sizeof(cl_ulong)},
        {CL_TRANSFER_TIME_SUBMITTED, sizeof(cl_ulong)},
        {CL_TRANSFER_TIME_STARTED, sizeof(cl_ulong)},
        {CL_TRANSFER_TIME_ENDED, sizeof(cl_ulong)},
    };
    for (const auto& [name, expected] : sizes) {
        SCOPED_TRACE(testing::Message() << std::hex << name);
        std::size_t size = 0;
        EXPECT_EQ(clGetTransferInfo(done.get(), name, 0, nullptr, &size), CL_SUCCESS);
        EXPECT_EQ(size, expected);
        unsigned char value[64];
        EXPECT_EQ(clGetTransferInfo(done.get(), name, sizeof value, value, nullptr), CL_SUCCESS);
        EXPECT_EQ(clGetTransferInfo(done.get(), name, expected - 1, value, nullptr), CL_INVALID_VALUE);
    }
}

TEST_P(transfer_information, an_unknown_name_is_refused) {
    const auto done = enqueue(1000);
    unsigned char value[64];
    EXPECT_EQ(clGetTransferInfo(done.get(), 0x1234, sizeof value, value, nullptr), CL_INVALID_VALUE);
    EXPECT_TRUE(completes(done));
}

TEST_P(transfer_information, an_event_that_is_no_transfer_is_refused) {
    cl_int status = 0;
    const gate users(context());
    EXPECT_EQ(clGetTransferInfo(users.event(), CL_TRANSFER_STATUS, sizeof status, &status, nullptr), CL_INVALID_EVENT);
    EXPECT_EQ(clGetTransferInfo(nullptr, CL_TRANSFER_STATUS, sizeof status, &status, nullptr), CL_INVALID_EVENT);
    const auto filled = enqueue_fill(queue(), buffer(), 1, 100);
    EXPECT_EQ(clGetTransferInfo(filled.get(), CL_TRANSFER_STATUS, sizeof status, &status, nullptr), CL_INVALID_EVENT);
    ASSERT_EQ(clFinish(queue()), CL_SUCCESS);
}

TEST_P(transfer_information, information_lives_until_the_last_release_of_the_event) {
    auto first = enqueue(777);
    ASSERT_TRUE(completes(first));
    ASSERT_EQ(clRetainEvent(first.get()), CL_SUCCESS);
    const event_handle second(first.get());
    first.release();
    for (int i = 0; i < 200; ++i) {
        ASSERT_TRUE(completes(enqueue(100)));
    }
    EXPECT_EQ(bytes_moved(second), 777U);
    EXPECT_EQ(transfer_info<cl_int>(second, CL_TRANSFER_STATUS), CL_COMPLETE);
}

TEST_P(transfer_information, information_survives_its_queue_and_its_buffer) {
    auto own_queue = new_queue();
    auto own_buffer = new_buffer(pattern(500));
    const auto done = read_buffer_to(own_queue.get(), own_buffer.get(), 0, 500, fd(), 0);
    ASSERT_TRUE(completes(done));
    own_queue.release();
    own_buffer.release();
    EXPECT_EQ(bytes_moved(done), 500U);
}

TEST_P(cancellation, a_transfer_that_has_not_started_fails_at_once) {
    gate start(context());
    const auto done = enqueue(1000, {start.event()});
    ASSERT_EQ(clCancelTransfer(done.get()), CL_SUCCESS);
    ASSERT_TRUE(fails_with(done, CL_TRANSFER_CANCELLED));
    EXPECT_EQ(bytes_moved(done), 0U);
    start.open();
    ASSERT_EQ(clFinish(queue()), CL_SUCCESS);
    EXPECT_TRUE(file_contents(path()).empty());
}

TEST_P(cancellation, dependents_of_a_cancelled_transfer_fail) {
    gate start(context());
    const auto cancelled = enqueue(1000, {start.event()});
    const auto dependent = read_buffer_to(queue(), buffer(), 0, 100, fd(), 0, {cancelled.get()});
    ASSERT_EQ(clCancelTransfer(cancelled.get()), CL_SUCCESS);
    EXPECT_TRUE(fails_with(dependent, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST));
    EXPECT_TRUE(file_contents(path()).empty());
}

TEST_P(cancellation, the_queue_goes_on_after_a_cancelled_transfer) {
    gate start(context());
    const auto cancelled = enqueue(1000, {start.event()});
    const auto next = read_buffer_to(queue(), buffer(), 0, 100, fd(), 0);
    ASSERT_EQ(clCancelTransfer(cancelled.get()), CL_SUCCESS);
    ASSERT_TRUE(completes(next));
    EXPECT_TRUE(same_bytes(pattern(100), file_contents(path())));
}

TEST_P(cancellation, a_stream_serves_its_next_transfer_after_a_cancelled_one) {
    const temporary_folder folder;
    const stream file = open_stream(folder.path("out"), "w");
    const auto other_queue = new_queue();
    gate start(context());
    const auto cancelled = read_buffer_to(queue(), buffer(), 0, 1000, file.get(), {start.event()});
    const auto next = read_buffer_to(other_queue.get(), buffer(), 0, 500, file.get());
    ASSERT_EQ(clCancelTransfer(cancelled.get()), CL_SUCCESS);
    ASSERT_TRUE(completes(next));
    EXPECT_TRUE(same_bytes(pattern(500), file_contents(folder.path("out"))));
}

TEST_P(cancellation, a_running_transfer_stops_at_the_next_block) {
    const option_scope strategy("strategy", "pipelined");
    const option_scope block("block", "64K");
    auto [reading, writing] = make_pipe();
    const stream file = open_stream(std::move(reading), "r");
    const bytes contents = pattern(2 * MiB);
    const auto target = new_buffer(bytes(2 * MiB));
    const auto done = write_buffer_from(queue(), target.get(), 0, 2 * MiB, file.get());
    ASSERT_TRUE(write_all(writing.get(), slice(contents, 0, 1000)));
    ASSERT_TRUE(eventually([&] { return transfer_info<cl_int>(done, CL_TRANSFER_STATUS) == CL_RUNNING; }));

    ASSERT_EQ(clCancelTransfer(done.get()), CL_SUCCESS);
    // The block in flight gets its bytes; the rest of the pipe's bytes never come.
    ASSERT_TRUE(write_all(writing.get(), slice(contents, 1000, 65'536 - 1000)));
    ASSERT_TRUE(fails_with(done, CL_TRANSFER_CANCELLED));
    const std::size_t moved = bytes_moved(done);
    EXPECT_LE(moved, 65'536U);
    EXPECT_TRUE(same_bytes(slice(contents, 0, moved), contents_of(target, 0, moved)));
}

TEST_P(cancellation, a_transfer_that_is_complete_cannot_be_cancelled) {
    const auto done = enqueue(1000);
    ASSERT_TRUE(completes(done));
    EXPECT_EQ(clCancelTransfer(done.get()), CL_INVALID_OPERATION);
    EXPECT_EQ(status_of(done.get()), CL_COMPLETE);
}

TEST_P(cancellation, a_failed_transfer_cannot_be_cancelled) {
    const auto failed = write_buffer_from(queue(), buffer(), 0, 100, fd(), 0);
    ASSERT_TRUE(fails_with(failed, CL_TRANSFER_END_OF_FILE));
    EXPECT_EQ(clCancelTransfer(failed.get()), CL_INVALID_OPERATION);
    EXPECT_EQ(status_of(failed.get()), CL_TRANSFER_END_OF_FILE);
}

TEST_P(cancellation, an_event_that_is_no_transfer_is_refused) {
    const gate users(context());
    EXPECT_EQ(clCancelTransfer(users.event()), CL_INVALID_EVENT);
    EXPECT_EQ(clCancelTransfer(nullptr), CL_INVALID_EVENT);
    EXPECT_GT(status_of(users.event()), CL_COMPLETE);
}
