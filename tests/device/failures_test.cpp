// SPDX-License-Identifier: Apache-2.0
// How a failure spreads: to what names the failed event, and no further.
#include "support/events.hpp"
#include "support/files.hpp"
#include "support/opencl_fixture.hpp"

#include <fcntl.h>

using namespace support;

namespace {

constexpr cl_int wait_list_failed = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;

class failures : public device_test {
  protected:
    failures()
        : m_buffer(new_buffer(pattern(4096))), m_output(open_descriptor(m_folder.path("out"), O_RDWR | O_CREAT)),
          m_empty(open_descriptor(m_folder.path("empty"), O_RDWR | O_CREAT)) {}

    [[nodiscard]] cl_mem buffer() const { return m_buffer.get(); }
    [[nodiscard]] int output() const { return m_output.get(); }
    [[nodiscard]] bytes written() const { return file_contents(m_folder.path("out")); }

    /// A transfer that fails with an end of file as soon as it runs.
    [[nodiscard]] event_handle enqueue_failing(cl_command_queue on, const wait_list& waits = {}) const {
        return write_buffer_from(on, m_buffer.get(), 0, 100, m_empty.get(), 0, waits);
    }
    [[nodiscard]] event_handle enqueue_good(cl_command_queue on, const wait_list& waits = {}) const {
        return read_buffer_to(on, m_buffer.get(), 0, 4096, m_output.get(), 0, waits);
    }

  private:
    temporary_folder m_folder;
    buffer_handle m_buffer;
    descriptor m_output;
    descriptor m_empty;
};
INSTANTIATE_TEST_SUITE_P(devices, failures, testing::ValuesIn(all_devices()), name_of);

} // namespace

TEST_P(failures, a_user_event_that_fails_keeps_its_dependents_from_starting) {
    gate start(context());
    const auto dependent = enqueue_good(queue(), {start.event()});
    start.fail(-5);
    ASSERT_TRUE(fails_with(dependent, wait_list_failed));
    EXPECT_EQ(bytes_moved(dependent), 0U);
    EXPECT_TRUE(written().empty());
}

TEST_P(failures, a_user_event_that_has_failed_before_the_enqueue_fails_its_dependents) {
    gate start(context());
    start.fail(-5);
    const auto dependent = enqueue_good(queue(), {start.event()});
    ASSERT_TRUE(fails_with(dependent, wait_list_failed));
    EXPECT_TRUE(written().empty());
}

TEST_P(failures, a_failure_spreads_along_a_chain_of_transfers) {
    const auto other_queue = new_queue();
    gate start(context());
    const auto first = enqueue_failing(queue(), {start.event()});
    const auto second = enqueue_good(other_queue.get(), {first.get()});
    const auto third = enqueue_good(queue(), {second.get()});
    start.open();
    EXPECT_TRUE(fails_with(third, wait_list_failed));
    EXPECT_TRUE(fails_with(second, wait_list_failed));
    EXPECT_TRUE(fails_with(first, CL_TRANSFER_END_OF_FILE));
    EXPECT_TRUE(written().empty());
}

TEST_P(failures, a_transfer_that_has_failed_before_the_enqueue_fails_its_dependents) {
    const auto failed = enqueue_failing(queue());
    ASSERT_TRUE(fails_with(failed, CL_TRANSFER_END_OF_FILE));
    EXPECT_TRUE(fails_with(enqueue_good(queue(), {failed.get()}), wait_list_failed));
    EXPECT_TRUE(written().empty());
}

TEST_P(failures, one_failed_event_among_good_ones_is_enough) {
    gate good(context());
    gate bad(context());
    gate late(context());
    const auto dependent = enqueue_good(queue(), {good.event(), bad.event(), late.event()});
    good.open();
    bad.fail(-7);
    late.open();
    EXPECT_TRUE(fails_with(dependent, wait_list_failed));
    EXPECT_TRUE(written().empty());
}

TEST_P(failures, the_dependent_of_a_failed_transfer_says_why) {
    const auto failed = enqueue_failing(queue());
    const auto dependent = enqueue_good(queue(), {failed.get()});
    ASSERT_TRUE(fails_with(dependent, wait_list_failed));
    EXPECT_NE(transfer_text(failed, CL_TRANSFER_ERROR_MESSAGE), "");
    EXPECT_NE(transfer_text(dependent, CL_TRANSFER_ERROR_MESSAGE), "");
}

TEST_P(failures, later_commands_of_an_in_order_queue_run_after_a_failed_transfer) {
    const auto other = new_buffer(bytes(1000));
    const auto failed = enqueue_failing(queue());
    const auto filled = enqueue_fill(queue(), other.get(), 77, 1000);
    const auto written_after = enqueue_good(queue());
    ASSERT_EQ(clFinish(queue()), CL_SUCCESS);
    EXPECT_EQ(status_of(failed.get()), CL_TRANSFER_END_OF_FILE);
    EXPECT_EQ(status_of(filled.get()), CL_COMPLETE);
    EXPECT_TRUE(completes(written_after));
    EXPECT_TRUE(same_bytes(bytes(1000, 77), contents_of(other, 0, 1000)));
    EXPECT_TRUE(same_bytes(pattern(4096), written()));
}

TEST_P(failures, later_commands_of_an_in_order_queue_run_after_a_transfer_whose_wait_list_failed) {
    const auto other = new_buffer(bytes(1000));
    gate start(context());
    const auto failed = enqueue_good(queue(), {start.event()});
    const auto filled = enqueue_fill(queue(), other.get(), 77, 1000);
    const auto copied = read_buffer_to(queue(), other.get(), 0, 1000, output(), 0);
    start.fail(-5);
    ASSERT_EQ(clFinish(queue()), CL_SUCCESS);
    EXPECT_TRUE(fails_with(failed, wait_list_failed));
    EXPECT_EQ(status_of(filled.get()), CL_COMPLETE);
    EXPECT_TRUE(completes(copied));
    EXPECT_TRUE(same_bytes(bytes(1000, 77), written()));
}

TEST_P(failures, a_queue_survives_many_failures) {
    const auto other = new_buffer(bytes(1000));
    std::vector<event_handle> failed;
    for (int i = 0; i < 50; ++i) {
        failed.push_back(enqueue_failing(queue()));
    }
    const auto filled = enqueue_fill(queue(), other.get(), 5, 1000);
    ASSERT_EQ(clFinish(queue()), CL_SUCCESS);
    for (const auto& event : failed) {
        EXPECT_TRUE(fails_with(event, CL_TRANSFER_END_OF_FILE));
    }
    EXPECT_EQ(status_of(filled.get()), CL_COMPLETE);
    EXPECT_TRUE(same_bytes(bytes(1000, 5), contents_of(other, 0, 1000)));
}

TEST_P(failures, a_vendor_command_that_waits_for_a_failed_transfer_does_not_run) {
    // What the command's own event shows is the vendor's affair; it has a queue to itself, for that may be lost.
    const auto vendor_queue = new_queue();
    const bytes before = pattern(1000, 2);
    const auto other = new_buffer(before);
    gate start(context());
    const auto failed = enqueue_failing(queue(), {start.event()});
    const auto filled = enqueue_fill(vendor_queue.get(), other.get(), 99, 1000, {failed.get()});
    clFlush(vendor_queue.get());
    start.open();
    ASSERT_TRUE(fails_with(failed, CL_TRANSFER_END_OF_FILE));
    static_cast<void>(eventually([&] { return status_of(filled.get()) <= CL_COMPLETE; }, std::chrono::seconds(2)));
    EXPECT_TRUE(same_bytes(before, contents_of(other, 0, 1000)));
}

TEST_P(failures, a_blocking_call_returns_the_failure_and_sets_the_event) {
    const temporary_folder folder;
    write_file(folder.path("short"), pattern(10));
    const stream file = open_stream(folder.path("short"), "r");
    event_handle done;
    EXPECT_EQ(clEnqueueWriteBufferFromStdioFile(queue(), buffer(), CL_TRUE, 0, 100, file.get(), 0, nullptr, done.out()),
              CL_TRANSFER_END_OF_FILE);
    ASSERT_NE(done.get(), nullptr);
    EXPECT_EQ(status_of(done.get()), CL_TRANSFER_END_OF_FILE);
    EXPECT_EQ(bytes_moved(done), 10U);
}

TEST_P(failures, a_blocking_call_without_an_event_returns_the_failure) {
    const temporary_folder folder;
    const stream file = open_stream(folder.path("empty"), "w+");
    EXPECT_EQ(clEnqueueWriteBufferFromStdioFile(queue(), buffer(), CL_TRUE, 0, 100, file.get(), 0, nullptr, nullptr),
              CL_TRANSFER_END_OF_FILE);
}

TEST_P(failures, a_blocking_call_with_a_failed_wait_list_returns_that) {
    gate start(context());
    start.fail(-5);
    const cl_event list[] = {start.event()};
    event_handle done;
    EXPECT_EQ(clEnqueueReadBufferToFile(queue(), buffer(), CL_TRUE, 0, 100, output(), 0, 1, list, done.out()),
              wait_list_failed);
    ASSERT_NE(done.get(), nullptr);
    EXPECT_EQ(status_of(done.get()), wait_list_failed);
    EXPECT_TRUE(written().empty());
}

TEST_P(failures, waiting_for_a_failed_transfer_ends_with_an_error) {
    const auto failed = enqueue_failing(queue());
    const cl_event list[] = {failed.get()};
    // NVIDIA's driver 580 returns CL_SUCCESS for a failed user event; it must end, and the status is there.
    const cl_int code = clWaitForEvents(1, list);
    EXPECT_TRUE(code < 0 || (code == CL_SUCCESS && GetParam().name.starts_with("nvidia"))) << code;
    EXPECT_LT(status_of(failed.get()), 0);
}

TEST_P(failures, a_failed_peer_copy_in_the_wait_list_fails_a_file_transfer) {
    const auto other = new_buffer(bytes(4096));
    gate start(context());
    event_handle copied;
    const cl_event list[] = {start.event()};
    ASSERT_EQ(
        clEnqueuePeerCopyBuffer(queue(), buffer(), queue(), other.get(), CL_FALSE, 0, 0, 4096, 1, list, copied.out()),
        CL_SUCCESS);
    const auto dependent = enqueue_good(queue(), {copied.get()});
    start.fail(-5);
    EXPECT_TRUE(fails_with(copied, wait_list_failed));
    EXPECT_TRUE(fails_with(dependent, wait_list_failed));
    EXPECT_TRUE(same_bytes(bytes(4096), contents_of(other, 0, 4096)));
    EXPECT_TRUE(written().empty());
}
