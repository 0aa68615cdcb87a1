// SPDX-License-Identifier: Apache-2.0
// Failed wait lists, cancelled transfers, objects released early: nothing hangs, messages go to the next in turn.
#include "ranks.hpp"

#include <gmock/gmock.h>

namespace system_test {
namespace {

constexpr std::size_t kib = 1024;
constexpr std::size_t mib = 1024 * kib;

class failures : public ranks_test {
  protected:
    [[nodiscard]] int right() const { return (m_rank + 1) % m_size; }
    [[nodiscard]] int left() const { return (m_rank + m_size - 1) % m_size; }

    const queue m_on = make_queue(order::out_of_order);
};

TEST_F(failures, of_a_wait_list_keep_a_send_from_starting_and_leave_its_match_to_the_next) {
    for (const std::size_t size : {std::size_t{500}, 200 * kib}) {
        SCOPED_TRACE(size);
        const event gate = own().make_user_event();
        const framed_buffer first(pattern(m_rank, 1, size));
        const framed_buffer second(pattern(m_rank, 2, size));
        const framed_buffer incoming(size);
        const event failing = enqueue_send(m_on.get(), first.whole(), right(), 1, m_comm, {gate.get()});
        const event next = enqueue_send(m_on.get(), second.whole(), right(), 1, m_comm);
        check(clSetUserEventStatus(gate.get(), -77), "clSetUserEventStatus");
        EXPECT_TRUE(fails(failing));
        EXPECT_EQ(transfer_info<std::size_t>(failing.get(), CL_TRANSFER_BYTES_MOVED), 0u);
        EXPECT_NE(transfer_text(failing.get(), CL_TRANSFER_ERROR_MESSAGE), "");
        ASSERT_TRUE(completes(enqueue_receive(m_on.get(), incoming.whole(), left(), 1, m_comm)));
        EXPECT_TRUE(incoming.holds(pattern(left(), 2, size)));
        EXPECT_TRUE(completes(next));
    }
}

TEST_F(failures, of_a_wait_list_keep_a_receive_from_starting_and_leave_its_match_to_the_next) {
    for (const std::size_t size : {std::size_t{500}, 200 * kib}) {
        SCOPED_TRACE(size);
        const event gate = own().make_user_event();
        const framed_buffer outgoing(pattern(m_rank, 1, size));
        const framed_buffer untouched(size);
        const framed_buffer incoming(size);
        const event failing = enqueue_receive(m_on.get(), untouched.whole(), left(), 1, m_comm, {gate.get()});
        const event next = enqueue_receive(m_on.get(), incoming.whole(), left(), 1, m_comm);
        const event sent = enqueue_send(m_on.get(), outgoing.whole(), right(), 1, m_comm);
        check(clSetUserEventStatus(gate.get(), -77), "clSetUserEventStatus");
        EXPECT_TRUE(fails(failing));
        ASSERT_TRUE(completes(next));
        EXPECT_TRUE(untouched.holds({}));
        EXPECT_TRUE(incoming.holds(pattern(left(), 1, size)));
        EXPECT_TRUE(completes(sent));
    }
}

TEST_F(failures, before_the_enqueue_are_seen) {
    const event failed = own().make_user_event();
    check(clSetUserEventStatus(failed.get(), -5), "clSetUserEventStatus");
    const framed_buffer some(1000);
    const event sent = enqueue_send(m_on.get(), some.whole(), right(), 1, m_comm, {failed.get()});
    const event received = enqueue_receive(m_on.get(), some.whole(), left(), 1, m_comm, {failed.get()});
    EXPECT_TRUE(fails(sent));
    EXPECT_TRUE(fails(received));
    EXPECT_TRUE(some.holds({}));
    EXPECT_EQ(clFinish(m_on.get()), CL_SUCCESS);
}

TEST_F(failures, are_the_code_of_a_blocking_call) {
    const event failed = own().make_user_event();
    check(clSetUserEventStatus(failed.get(), -5), "clSetUserEventStatus");
    const cl_event list = failed.get();
    const framed_buffer some(1000);
    event sent;
    EXPECT_EQ(clEnqueueSendBuffer(m_on.get(), some.get(), CL_TRUE, 0, 1000, right(), 1, m_comm, 1, &list, sent.out()),
              CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    ASSERT_NE(sent.get(), nullptr);
    EXPECT_TRUE(fails(sent));
}

TEST_F(failures, run_along_a_chain_of_transfers) {
    const event gate = own().make_user_event();
    const framed_buffer some(1000);
    std::vector<event> chain;
    chain.push_back(enqueue_send(m_on.get(), some.whole(), right(), 1, m_comm, {gate.get()}));
    for (int link = 1; link < 6; ++link) {
        const wait_list before{chain.back().get()};
        chain.push_back(link % 2 ? enqueue_receive(m_on.get(), some.whole(), left(), link, m_comm, before)
                                 : enqueue_send(m_on.get(), some.whole(), right(), link, m_comm, before));
    }
    check(clSetUserEventStatus(gate.get(), -77), "clSetUserEventStatus");
    for (const event& link : chain) EXPECT_TRUE(fails(link));
    EXPECT_TRUE(some.holds({}));
}

TEST_F(failures, do_not_poison_an_in_order_queue) {
    const queue in_turn = make_queue(order::in_order);
    const event gate = own().make_user_event();
    const framed_buffer some(1000);
    const framed_buffer outgoing(pattern(m_rank, 1, 1000));
    const framed_buffer incoming(1000);
    const event failing = enqueue_send(in_turn.get(), some.whole(), right(), 1, m_comm, {gate.get()});
    const event sent = enqueue_send(in_turn.get(), outgoing.whole(), right(), 1, m_comm);
    const event received = enqueue_receive(in_turn.get(), incoming.whole(), left(), 1, m_comm);
    check(clSetUserEventStatus(gate.get(), -77), "clSetUserEventStatus");
    EXPECT_TRUE(fails(failing));
    EXPECT_TRUE(completes(sent));
    EXPECT_TRUE(completes(received));
    EXPECT_TRUE(incoming.holds(pattern(left(), 1, 1000)));
    EXPECT_EQ(clFinish(in_turn.get()), CL_SUCCESS);
}

TEST_F(failures, by_cancelling_a_receive_leave_its_message_to_the_next) {
    const framed_buffer untouched(100 * kib);
    const framed_buffer incoming(100 * kib);
    const framed_buffer outgoing(pattern(m_rank, 1, 100 * kib));
    const event cancelled = enqueue_receive(m_on.get(), untouched.whole(), left(), 1, m_comm);
    ASSERT_EQ(clCancelTransfer(cancelled.get()), CL_SUCCESS);
    ASSERT_TRUE(ends_with(cancelled, CL_TRANSFER_CANCELLED));
    EXPECT_EQ(clCancelTransfer(cancelled.get()), CL_INVALID_OPERATION);
    barrier(); // no message was there to match the cancelled receive
    const event sent = enqueue_send(m_on.get(), outgoing.whole(), right(), 1, m_comm);
    const event received = enqueue_receive(m_on.get(), incoming.whole(), left(), 1, m_comm);
    ASSERT_TRUE(completes(received));
    ASSERT_TRUE(completes(sent));
    EXPECT_TRUE(untouched.holds({}));
    EXPECT_TRUE(incoming.holds(pattern(left(), 1, 100 * kib)));
}

TEST_F(failures, by_cancelling_a_wildcard_receive_leave_the_message_to_the_next) {
    const framed_buffer untouched(1000);
    const framed_buffer incoming(1000);
    const framed_buffer outgoing(pattern(m_rank, 1, 1000));
    const event cancelled = enqueue_receive(m_on.get(), untouched.whole(), MPI_ANY_SOURCE, MPI_ANY_TAG, m_comm);
    ASSERT_EQ(clCancelTransfer(cancelled.get()), CL_SUCCESS);
    ASSERT_TRUE(ends_with(cancelled, CL_TRANSFER_CANCELLED));
    barrier();
    const event sent = enqueue_send(m_on.get(), outgoing.whole(), right(), 1, m_comm);
    ASSERT_TRUE(completes(enqueue_receive(m_on.get(), incoming.whole(), left(), 1, m_comm)));
    EXPECT_TRUE(incoming.holds(pattern(left(), 1, 1000)));
    EXPECT_TRUE(untouched.holds({}));
    EXPECT_TRUE(completes(sent));
}

TEST_F(failures, by_cancelling_a_gated_send_leave_its_receive_to_the_next) {
    const event gate = own().make_user_event();
    const framed_buffer first(pattern(m_rank, 1, 1000));
    const framed_buffer second(pattern(m_rank, 2, 1000));
    const framed_buffer incoming(1000);
    const event cancelled = enqueue_send(m_on.get(), first.whole(), right(), 1, m_comm, {gate.get()});
    const event next = enqueue_send(m_on.get(), second.whole(), right(), 1, m_comm);
    ASSERT_EQ(clCancelTransfer(cancelled.get()), CL_SUCCESS);
    EXPECT_TRUE(ends_with(cancelled, CL_TRANSFER_CANCELLED));
    ASSERT_TRUE(completes(enqueue_receive(m_on.get(), incoming.whole(), left(), 1, m_comm)));
    EXPECT_TRUE(incoming.holds(pattern(left(), 2, 1000)));
    EXPECT_TRUE(completes(next));
    check(clSetUserEventStatus(gate.get(), CL_COMPLETE), "clSetUserEventStatus");
    EXPECT_EQ(status_of(cancelled.get()), CL_TRANSFER_CANCELLED);
}

TEST_F(failures, by_cancelling_a_send_without_receive_leave_the_receive_to_the_next) {
    const framed_buffer first(pattern(m_rank, 1, 2 * mib));
    const framed_buffer second(pattern(m_rank, 2, 2 * mib));
    const framed_buffer incoming(2 * mib);
    const event cancelled = enqueue_send(m_on.get(), first.whole(), right(), 1, m_comm);
    ASSERT_EQ(clCancelTransfer(cancelled.get()), CL_SUCCESS);
    ASSERT_TRUE(ends_with(cancelled, CL_TRANSFER_CANCELLED));
    // Messages of a rank come in order: once this word is there, so is the withdrawal.
    const framed_buffer word(pattern(m_rank, 3, 8));
    const framed_buffer heard(8);
    const event said = enqueue_send(m_on.get(), word.whole(), right(), 9, m_comm);
    ASSERT_TRUE(completes(enqueue_receive(m_on.get(), heard.whole(), left(), 9, m_comm)));
    ASSERT_TRUE(completes(said));
    const event next = enqueue_send(m_on.get(), second.whole(), right(), 1, m_comm);
    barrier();
    ASSERT_TRUE(completes(enqueue_receive(m_on.get(), incoming.whole(), left(), 1, m_comm)));
    EXPECT_TRUE(incoming.holds(pattern(left(), 2, 2 * mib)));
    EXPECT_TRUE(completes(next));
}

TEST_F(failures, by_cancelling_a_running_message_end_both_sides) {
    // Cancelled at any moment: each side ends, and the channel carries the next message.
    const option_scope block("block", "64K");
    const option_scope strategy("strategy", "pipelined");
    const std::size_t size = 30 * mib;
    const framed_buffer outgoing(pattern(m_rank, 1, size));
    const framed_buffer incoming(size);
    const event received = enqueue_receive(m_on.get(), incoming.whole(), left(), 1, m_comm);
    const event sent = enqueue_send(m_on.get(), outgoing.whole(), right(), 1, m_comm);
    while (status_of(sent.get()) > CL_COMPLETE && transfer_info<std::size_t>(sent.get(), CL_TRANSFER_BYTES_MOVED) == 0)
        std::this_thread::yield();
    const cl_int code = clCancelTransfer(sent.get());
    EXPECT_TRUE(code == CL_SUCCESS || code == CL_INVALID_OPERATION) << code;
    EXPECT_LE(wait(sent.get()), CL_COMPLETE);
    EXPECT_LE(wait(received.get()), CL_COMPLETE);
    const auto moved = transfer_info<std::size_t>(received.get(), CL_TRANSFER_BYTES_MOVED);
    EXPECT_TRUE(same(own().read(incoming.get(), framed_buffer::margin, moved), pattern(left(), 1, moved)));
    if (status_of(received.get()) == CL_COMPLETE) {
        EXPECT_EQ(moved, size);
    }

    const framed_buffer after(pattern(m_rank, 2, size));
    const framed_buffer after_incoming(size);
    const event after_received = enqueue_receive(m_on.get(), after_incoming.whole(), left(), 1, m_comm);
    const event after_sent = enqueue_send(m_on.get(), after.whole(), right(), 1, m_comm);
    ASSERT_TRUE(completes(after_received));
    ASSERT_TRUE(completes(after_sent));
    EXPECT_TRUE(after_incoming.holds(pattern(left(), 2, size)));
}

TEST_F(failures, to_cancel_are_told) {
    const event stranger = own().make_user_event();
    EXPECT_EQ(clCancelTransfer(stranger.get()), CL_INVALID_EVENT);
    EXPECT_EQ(clCancelTransfer(nullptr), CL_INVALID_EVENT);
    const framed_buffer some(10);
    const event done = enqueue_send(m_on.get(), some.whole(), MPI_PROC_NULL, 1, m_comm);
    ASSERT_TRUE(completes(done));
    EXPECT_EQ(clCancelTransfer(done.get()), CL_INVALID_OPERATION);
    check(clSetUserEventStatus(stranger.get(), CL_COMPLETE), "clSetUserEventStatus");
}

TEST_F(failures, are_none_where_nobody_sends_or_receives_and_explain_says_who_that_is) {
    const option_scope explains("explain", "1");
    const framed_buffer some(10);
    testing::internal::CaptureStderr();
    const bool all_complete = completes(enqueue_send(m_on.get(), some.whole(), MPI_PROC_NULL, 1, m_comm)) &&
                              completes(enqueue_receive(m_on.get(), some.whole(), MPI_PROC_NULL, 1, m_comm));
    const auto told = testing::internal::GetCapturedStderr();
    EXPECT_TRUE(all_complete);
    EXPECT_THAT(told, testing::AllOf(testing::HasSubstr("device buffer -> MPI_PROC_NULL, took"),
                                     testing::HasSubstr("MPI_PROC_NULL -> device buffer, took")));
}

TEST_F(failures, do_not_come_from_objects_released_right_after_the_enqueue) {
    const std::size_t size = 3 * mib;
    event gate = own().make_user_event();
    event received;
    event sent;
    const framed_buffer incoming(size);
    {
        const queue short_lived = own().make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE); // which nobody keeps
        const framed_buffer outgoing(pattern(m_rank, 1, size));
        received = enqueue_receive(short_lived.get(), incoming.whole(), left(), 1, m_comm, {gate.get()});
        sent = enqueue_send(short_lived.get(), outgoing.whole(), right(), 1, m_comm, {gate.get()});
    }
    check(clSetUserEventStatus(gate.get(), CL_COMPLETE), "clSetUserEventStatus");
    gate.release();
    ASSERT_TRUE(completes(received));
    ASSERT_TRUE(completes(sent));
    EXPECT_TRUE(incoming.holds(pattern(left(), 1, size)));
}

TEST_F(failures, do_not_come_from_a_context_released_with_work_in_flight) {
    const std::size_t size = 2 * mib;
    event sent;
    {
        const context short_lived = own().make_context();
        cl_device_id device = own().device();
        cl_int code = CL_SUCCESS;
        const queue on(clCreateCommandQueue(short_lived.get(), device, 0, &code));
        ASSERT_EQ(code, CL_SUCCESS);
        bytes contents = pattern(m_rank, 1, size);
        const buffer outgoing(
            clCreateBuffer(short_lived.get(), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, size, contents.data(), &code));
        ASSERT_EQ(code, CL_SUCCESS);
        sent = enqueue_send(on.get(), {outgoing.get(), 0, size}, right(), 1, m_comm);
    }
    const framed_buffer incoming(size);
    ASSERT_TRUE(completes(enqueue_receive(m_on.get(), incoming.whole(), left(), 1, m_comm)));
    EXPECT_TRUE(incoming.holds(pattern(left(), 1, size)));
    EXPECT_TRUE(completes(sent));
}

TEST_F(failures, do_not_come_from_events_released_right_after_the_enqueue) {
    constexpr int count = 20;
    std::vector<framed_buffer> incoming;
    for (int message = 0; message < count; ++message) incoming.emplace_back(50 * kib);
    for (int message = 0; message < count; ++message) {
        const framed_buffer outgoing(pattern(m_rank, message, 50 * kib));
        const event received = enqueue_receive(m_on.get(), incoming[static_cast<std::size_t>(message)].whole(), left(),
                                               1, m_comm);
        const event sent = enqueue_send(m_on.get(), outgoing.whole(), right(), 1, m_comm);
    }
    ASSERT_EQ(clFinish(m_on.get()), CL_SUCCESS);
    for (int message = 0; message < count; ++message) {
        SCOPED_TRACE(message);
        EXPECT_TRUE(incoming[static_cast<std::size_t>(message)].holds(pattern(left(), message, 50 * kib)));
    }
}

} // namespace
} // namespace system_test
