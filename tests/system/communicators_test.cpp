// SPDX-License-Identifier: Apache-2.0
// Transfers keep to their communicator and live beside the application's own MPI traffic and threads.
#include "ranks.hpp"

#include <atomic>

namespace system_test {
namespace {

constexpr std::size_t kib = 1024;

class communicators : public ranks_test {
  protected:
    [[nodiscard]] int right() const { return (m_rank + 1) % m_size; }
    [[nodiscard]] int left() const { return (m_rank + m_size - 1) % m_size; }

    const queue m_on = make_queue(order::out_of_order);
};

TEST_F(communicators, with_equal_tags_do_not_mix) {
    const std::size_t size = 68 * kib;
    MPI_Comm other = MPI_COMM_NULL;
    MPI_Comm_dup(m_comm, &other);
    const framed_buffer outgoing(pattern(m_rank, 1, size));
    const framed_buffer outgoing_other(pattern(m_rank, 2, size));
    const framed_buffer incoming(size);
    const framed_buffer incoming_other(size);
    const event sent = enqueue_send(m_on.get(), outgoing.whole(), right(), 7, m_comm);
    const event sent_other = enqueue_send(m_on.get(), outgoing_other.whole(), right(), 7, other);
    const event received_other = enqueue_receive(m_on.get(), incoming_other.whole(), left(), 7, other);
    const event received = enqueue_receive(m_on.get(), incoming.whole(), left(), 7, m_comm);
    ASSERT_TRUE(completes(received));
    ASSERT_TRUE(completes(received_other));
    EXPECT_TRUE(incoming.holds(pattern(left(), 1, size)));
    EXPECT_TRUE(incoming_other.holds(pattern(left(), 2, size)));
    ASSERT_TRUE(completes(sent));
    ASSERT_TRUE(completes(sent_other));
    MPI_Comm_free(&other);
}

TEST_F(communicators, do_not_see_one_anothers_messages_through_wildcards) {
    MPI_Comm other = MPI_COMM_NULL;
    MPI_Comm_dup(m_comm, &other);
    const framed_buffer outgoing(pattern(m_rank, 1, 900));
    const framed_buffer outgoing_other(pattern(m_rank, 2, 900));
    const framed_buffer incoming(900);
    const framed_buffer incoming_other(900);
    const event sent_other = enqueue_send(m_on.get(), outgoing_other.whole(), right(), 7, other);
    const event received = enqueue_receive(m_on.get(), incoming.whole(), MPI_ANY_SOURCE, MPI_ANY_TAG, m_comm);
    const event sent = enqueue_send(m_on.get(), outgoing.whole(), right(), 8, m_comm);
    ASSERT_TRUE(completes(received));
    EXPECT_TRUE(incoming.holds(pattern(left(), 1, 900)));
    ASSERT_TRUE(completes(enqueue_receive(m_on.get(), incoming_other.whole(), left(), 7, other)));
    EXPECT_TRUE(incoming_other.holds(pattern(left(), 2, 900)));
    ASSERT_TRUE(completes(sent));
    ASSERT_TRUE(completes(sent_other));
    MPI_Comm_free(&other);
}

TEST_F(communicators, that_were_split_count_their_own_ranks) {
    const std::size_t size = 100 * kib;
    MPI_Comm reversed = MPI_COMM_NULL;
    MPI_Comm_split(m_comm, 0, -m_rank, &reversed);
    int reversed_rank = -1;
    MPI_Comm_rank(reversed, &reversed_rank);
    ASSERT_EQ(reversed_rank, m_size - 1 - m_rank);
    const int to = (reversed_rank + 1) % m_size;
    const int from = (reversed_rank + m_size - 1) % m_size;
    const framed_buffer outgoing(pattern(reversed_rank, 1, size));
    const framed_buffer incoming(size);
    const event sent = enqueue_send(m_on.get(), outgoing.whole(), to, 1, reversed);
    const event received = enqueue_receive(m_on.get(), incoming.whole(), MPI_ANY_SOURCE, 1, reversed);
    ASSERT_TRUE(completes(received));
    ASSERT_TRUE(completes(sent));
    EXPECT_EQ(transfer_info<int>(received.get(), CL_TRANSFER_MPI_SOURCE), from);
    EXPECT_TRUE(incoming.holds(pattern(from, 1, size)));
    MPI_Comm_free(&reversed);
}

TEST_F(communicators, of_half_the_ranks_work_at_the_same_time) {
    const std::size_t size = 100 * kib;
    MPI_Comm half = MPI_COMM_NULL;
    MPI_Comm_split(m_comm, m_rank % 2, m_rank, &half);
    int half_rank = 0;
    int half_size = 1;
    MPI_Comm_rank(half, &half_rank);
    MPI_Comm_size(half, &half_size);
    const int to = (half_rank + 1) % half_size;
    const int from = (half_rank + half_size - 1) % half_size;
    const framed_buffer outgoing(pattern(m_rank, 1, size));
    const framed_buffer incoming(size);
    const event sent = enqueue_send(m_on.get(), outgoing.whole(), to, 1, half);
    const event received = enqueue_receive(m_on.get(), incoming.whole(), from, 1, half);
    ASSERT_TRUE(completes(received));
    ASSERT_TRUE(completes(sent));
    EXPECT_TRUE(incoming.holds(pattern(2 * from + m_rank % 2, 1, size)));
    MPI_Comm_free(&half);
}

TEST_F(communicators, between_groups_reach_the_remote_group) {
    NEEDS_RANKS(2);
    MPI_Comm half = MPI_COMM_NULL;
    MPI_Comm_split(m_comm, m_rank % 2, m_rank, &half);
    MPI_Comm between = MPI_COMM_NULL;
    MPI_Intercomm_create(half, 0, m_comm, m_rank % 2 == 0 ? 1 : 0, 17, &between);
    int half_rank = 0;
    int remote_size = 0;
    MPI_Comm_rank(half, &half_rank);
    MPI_Comm_remote_size(between, &remote_size);
    if (half_rank < remote_size) {
        for (const std::size_t size : {std::size_t{100}, 300 * kib}) {
            SCOPED_TRACE(size);
            const framed_buffer outgoing(pattern(m_rank, 1, size));
            const framed_buffer incoming(size);
            const event sent = enqueue_send(m_on.get(), outgoing.whole(), half_rank, 1, between);
            const event received = enqueue_receive(m_on.get(), incoming.whole(), half_rank, 1, between);
            EXPECT_TRUE(completes(received));
            EXPECT_TRUE(completes(sent));
            EXPECT_EQ(transfer_info<int>(received.get(), CL_TRANSFER_MPI_SOURCE), half_rank);
            EXPECT_TRUE(incoming.holds(pattern(m_rank ^ 1, 1, size)));
        }
    }
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
}

TEST_F(communicators, between_groups_take_any_source) {
    NEEDS_RANKS(2);
    MPI_Comm half = MPI_COMM_NULL;
    MPI_Comm_split(m_comm, m_rank == 0 ? 0 : 1, m_rank, &half);
    MPI_Comm between = MPI_COMM_NULL;
    MPI_Intercomm_create(half, 0, m_comm, m_rank == 0 ? 1 : 0, 18, &between);
    const std::size_t size = 70 * kib;
    if (m_rank == 0) {
        for (int message = 1; message < m_size; ++message) {
            const framed_buffer incoming(size);
            const event received = enqueue_receive(m_on.get(), incoming.whole(), MPI_ANY_SOURCE, 3, between);
            EXPECT_TRUE(completes(received));
            const int remote_rank = transfer_info<int>(received.get(), CL_TRANSFER_MPI_SOURCE);
            EXPECT_TRUE(incoming.holds(pattern(remote_rank + 1, 1, size)));
        }
    } else {
        const framed_buffer outgoing(pattern(m_rank, 1, size));
        EXPECT_TRUE(completes(enqueue_send(m_on.get(), outgoing.whole(), 0, 3, between)));
    }
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
}

TEST_F(communicators, of_one_rank_carry_messages_to_oneself) {
    const framed_buffer outgoing(pattern(m_rank, 1, 70 * kib));
    const framed_buffer incoming(70 * kib);
    const event received = enqueue_receive(m_on.get(), incoming.whole(), 0, 1, MPI_COMM_SELF);
    const event sent = enqueue_send(m_on.get(), outgoing.whole(), 0, 1, MPI_COMM_SELF);
    ASSERT_TRUE(completes(received));
    ASSERT_TRUE(completes(sent));
    EXPECT_TRUE(incoming.holds(pattern(m_rank, 1, 70 * kib)));
}

TEST_F(communicators, that_come_and_go_are_not_used_up) {
    const framed_buffer outgoing(pattern(m_rank, 1, 8));
    const framed_buffer incoming(8);
    for (int i = 0; i < 2500; ++i) { // MPICH has 2048 at a time
        MPI_Comm own = MPI_COMM_NULL;
        ASSERT_EQ(MPI_Comm_dup(MPI_COMM_SELF, &own), MPI_SUCCESS);
        const event received = enqueue_receive(m_on.get(), incoming.whole(), 0, 1, own);
        ASSERT_TRUE(completes(enqueue_send(m_on.get(), outgoing.whole(), 0, 1, own)));
        ASSERT_TRUE(completes(received));
        MPI_Comm_free(&own);
    }
}

TEST_F(communicators, can_be_disconnected_after_their_transfers) {
    MPI_Comm other = MPI_COMM_NULL;
    MPI_Comm_dup(m_comm, &other);
    const framed_buffer outgoing(pattern(m_rank, 1, 900));
    const framed_buffer incoming(900);
    const event received = enqueue_receive(m_on.get(), incoming.whole(), left(), 1, other);
    ASSERT_TRUE(completes(enqueue_send(m_on.get(), outgoing.whole(), right(), 1, other)));
    ASSERT_TRUE(completes(received));
    EXPECT_EQ(MPI_Comm_disconnect(&other), MPI_SUCCESS);
}

TEST_F(communicators, that_are_attached_hide_transfers_from_wildcards_of_the_application) {
    ASSERT_EQ(clAttachCommunicator(m_comm), CL_SUCCESS) << causeway_error_last_message();
    for (const std::size_t size : {std::size_t{500}, 200 * kib}) {
        SCOPED_TRACE(size);
        const framed_buffer outgoing(pattern(m_rank, 1, size));
        const framed_buffer incoming(size);
        const event sent = enqueue_send(m_on.get(), outgoing.whole(), right(), 7, m_comm);
        if (size <= 64 * kib) {
            EXPECT_TRUE(completes(sent)); // its bytes are on their way or there before the application's
        }
        const int own_message = 1000 + m_rank;
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Isend(&own_message, 1, MPI_INT, right(), 9, m_comm, &request);
        int seen = 0;
        MPI_Status status;
        MPI_Recv(&seen, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, m_comm, &status);
        EXPECT_EQ(seen, 1000 + left());
        EXPECT_EQ(status.MPI_TAG, 9);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        int found = 0;
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, m_comm, &found, MPI_STATUS_IGNORE);
        EXPECT_FALSE(found);
        ASSERT_TRUE(completes(enqueue_receive(m_on.get(), incoming.whole(), left(), 7, m_comm)));
        EXPECT_TRUE(incoming.holds(pattern(left(), 1, size)));
        ASSERT_TRUE(completes(sent));
        barrier();
    }
}

TEST_F(communicators, that_are_attached_still_match_host_and_device) {
    ASSERT_EQ(clAttachCommunicator(m_comm), CL_SUCCESS) << causeway_error_last_message();
    const std::size_t size = 90 * kib;
    const framed_buffer outgoing(pattern(m_rank, 1, size));
    const event sent = enqueue_send(m_on.get(), outgoing.whole(), right(), 7, m_comm);
    bytes seen(size);
    ASSERT_EQ(MPI_Recv(seen.data(), static_cast<int>(size), MPI_CL_MEM, left(), 7, m_comm, MPI_STATUS_IGNORE),
              MPI_SUCCESS);
    EXPECT_TRUE(same(seen, pattern(left(), 1, size)));
    ASSERT_TRUE(completes(sent));
}

TEST_F(communicators, that_one_rank_cannot_attach_are_attached_by_none) {
    const std::size_t size = 100 * kib;
    const int busy = m_size - 1;
    const framed_buffer outgoing(pattern(m_rank, 1, size));
    const framed_buffer incoming(size);
    event received;
    if (m_rank == busy) received = enqueue_receive(m_on.get(), incoming.whole(), left(), 3, m_comm);
    for (int attempt = 0; attempt < 2; ++attempt) {
        EXPECT_EQ(clAttachCommunicator(m_comm), CL_INVALID_OPERATION);
        EXPECT_STRNE(causeway_error_last_message(), "");
    }
    // The communicator is as it was for all of them.
    if (m_rank != busy) received = enqueue_receive(m_on.get(), incoming.whole(), left(), 3, m_comm);
    const event sent = enqueue_send(m_on.get(), outgoing.whole(), right(), 3, m_comm);
    ASSERT_TRUE(completes(received));
    ASSERT_TRUE(completes(sent));
    EXPECT_TRUE(incoming.holds(pattern(left(), 1, size)));
}

TEST_F(communicators, between_groups_are_attached_by_all_or_none) {
    NEEDS_RANKS(2);
    MPI_Comm half = MPI_COMM_NULL;
    MPI_Comm_split(m_comm, m_rank == 0 ? 0 : 1, m_rank, &half);
    for (const bool busy : {true, false}) {
        SCOPED_TRACE(busy);
        MPI_Comm between = MPI_COMM_NULL;
        MPI_Intercomm_create(half, 0, m_comm, m_rank == 0 ? 1 : 0, 19, &between);
        const framed_buffer outgoing(pattern(m_rank, 1, 500));
        const framed_buffer incoming(500);
        event received;
        if (busy && m_rank == 0) received = enqueue_receive(m_on.get(), incoming.whole(), 0, 3, between);
        EXPECT_EQ(clAttachCommunicator(between), busy ? CL_INVALID_OPERATION : CL_SUCCESS);
        if (!busy && m_rank == 0) received = enqueue_receive(m_on.get(), incoming.whole(), 0, 3, between);
        if (m_rank == 1) {
            EXPECT_TRUE(completes(enqueue_send(m_on.get(), outgoing.whole(), 0, 3, between)));
        }
        if (m_rank == 0) {
            ASSERT_TRUE(completes(received));
            EXPECT_TRUE(incoming.holds(pattern(1, 1, 500)));
        }
        barrier();
        MPI_Comm_free(&between);
    }
    MPI_Comm_free(&half);
}

TEST_F(communicators, that_are_attached_already_are_attached_again) {
    ASSERT_EQ(clAttachCommunicator(m_comm), CL_SUCCESS) << causeway_error_last_message();
    const framed_buffer outgoing(pattern(m_rank, 1, 500));
    const framed_buffer incoming(500);
    const event sent = enqueue_send(m_on.get(), outgoing.whole(), right(), 3, m_comm);
    EXPECT_EQ(clAttachCommunicator(m_comm), CL_SUCCESS) << causeway_error_last_message();
    ASSERT_TRUE(completes(enqueue_receive(m_on.get(), incoming.whole(), left(), 3, m_comm)));
    ASSERT_TRUE(completes(sent));
    EXPECT_TRUE(incoming.holds(pattern(left(), 1, 500)));
}

TEST_F(communicators, refuse_to_attach_the_null_communicator) {
    EXPECT_EQ(clAttachCommunicator(MPI_COMM_NULL), CL_INVALID_VALUE);
    EXPECT_STRNE(causeway_error_last_message(), "");
}

TEST_F(communicators, carry_the_applications_own_messages_beside_transfers) {
    // The application's thread uses other tags of the same communicator, and wildcards on one of its own.
    MPI_Comm private_comm = MPI_COMM_NULL;
    MPI_Comm_dup(m_comm, &private_comm);
    const int to = right();
    const int from = left();
    std::atomic<int> wrong{0};
    std::jthread application([&] {
        for (int round = 0; round < 300; ++round) {
            const bytes mine = pattern(m_rank, round, 1 + static_cast<std::size_t>(round) * 97);
            bytes theirs(mine.size());
            MPI_Sendrecv(mine.data(), static_cast<int>(mine.size()), MPI_BYTE, to, 500, theirs.data(),
                         static_cast<int>(theirs.size()), MPI_BYTE, from, 500, m_comm, MPI_STATUS_IGNORE);
            wrong += theirs != pattern(from, round, mine.size());
            int value = round;
            MPI_Request request = MPI_REQUEST_NULL;
            MPI_Isend(&round, 1, MPI_INT, to, round, private_comm, &request);
            MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, private_comm, MPI_STATUS_IGNORE);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            wrong += value != round;
        }
    });
    for (int round = 0; round < 60; ++round) {
        SCOPED_TRACE(round);
        const std::size_t size = round % 3 == 0 ? 400 * kib : 700;
        const framed_buffer outgoing(pattern(m_rank, round, size));
        const framed_buffer incoming(size);
        const event sent = enqueue_send(m_on.get(), outgoing.whole(), to, 7, m_comm);
        const event received = enqueue_receive(m_on.get(), incoming.whole(), from, 7, m_comm);
        EXPECT_TRUE(completes(received));
        EXPECT_TRUE(completes(sent));
        EXPECT_TRUE(incoming.holds(pattern(from, round, size)));
    }
    application.join();
    EXPECT_EQ(wrong, 0);
    MPI_Comm_free(&private_comm);
}

TEST_F(communicators, serve_several_threads_that_enqueue_at_once) {
    constexpr int thread_count = 4;
    constexpr int rounds = 25;
    std::atomic<int> wrong{0};
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < thread_count; ++thread) {
        threads.emplace_back([&, thread] {
            const queue mine = make_queue(order::out_of_order);
            for (int round = 0; round < rounds; ++round) {
                const std::size_t size = round % 4 == 0 ? 150 * kib : 2000;
                const int id = thread * rounds + round;
                const framed_buffer outgoing(pattern(m_rank, id, size));
                const framed_buffer incoming(size);
                const event sent = enqueue_send(mine.get(), outgoing.whole(), right(), 100 + thread, m_comm);
                const event received = enqueue_receive(mine.get(), incoming.whole(), left(), 100 + thread, m_comm);
                wrong += wait(received.get()) != CL_COMPLETE;
                wrong += wait(sent.get()) != CL_COMPLETE;
                wrong += !incoming.holds(pattern(left(), id, size));
            }
        });
    }
    for (std::jthread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
}

} // namespace
} // namespace system_test
