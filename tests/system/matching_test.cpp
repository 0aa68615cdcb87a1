// SPDX-License-Identifier: Apache-2.0
// Which send goes to which receive: order of enqueue, tags, wildcards, null ranks, gated commands.
#include "ranks.hpp"

#include <set>

namespace system_test {
namespace {

constexpr std::size_t kib = 1024;

class matching : public ranks_test {
  protected:
    [[nodiscard]] int right() const { return (m_rank + 1) % m_size; }
    [[nodiscard]] int left() const { return (m_rank + m_size - 1) % m_size; }

    const queue m_on = make_queue(order::out_of_order);
};

TEST_F(matching, keeps_the_order_of_enqueue_for_one_rank_and_tag) {
    constexpr int count = 120;
    // Small and large ones in turn, so that a large one that is slow must not be overtaken.
    const auto size_of = [](int message) { return message % 3 == 0 ? 200 * kib + message : std::size_t{16} * message; };
    std::vector<framed_buffer> outgoing;
    std::vector<framed_buffer> incoming;
    std::vector<event> sent;
    std::vector<event> received;
    for (int message = 0; message < count; ++message) {
        outgoing.emplace_back(pattern(m_rank, message, size_of(message)));
        incoming.emplace_back(size_of(message));
    }
    for (int message = 0; message < count; ++message) {
        const auto at = static_cast<std::size_t>(message);
        sent.push_back(enqueue_send(m_on.get(), outgoing[at].whole(), right(), 4, m_comm));
        received.push_back(enqueue_receive(m_on.get(), incoming[at].whole(), left(), 4, m_comm));
    }
    for (int message = 0; message < count; ++message) {
        SCOPED_TRACE(message);
        const auto at = static_cast<std::size_t>(message);
        ASSERT_TRUE(completes(sent[at]));
        ASSERT_TRUE(completes(received[at]));
        ASSERT_TRUE(incoming[at].holds(pattern(left(), message, size_of(message))));
    }
}

TEST_F(matching, picks_messages_by_tag_whatever_their_order) {
    constexpr int count = 10;
    std::vector<framed_buffer> outgoing;
    std::vector<event> sent;
    for (int tag = 0; tag < count; ++tag) {
        outgoing.emplace_back(pattern(m_rank, tag, 70 * kib));
        sent.push_back(enqueue_send(m_on.get(), outgoing.back().whole(), right(), tag, m_comm));
    }
    for (int tag = count - 1; tag >= 0; --tag) {
        SCOPED_TRACE(tag);
        const framed_buffer incoming(70 * kib);
        ASSERT_TRUE(completes(enqueue_receive(m_on.get(), incoming.whole(), left(), tag, m_comm)));
        EXPECT_TRUE(incoming.holds(pattern(left(), tag, 70 * kib)));
    }
    for (const event& done : sent) EXPECT_TRUE(completes(done));
}

TEST_F(matching, takes_messages_that_came_before_their_receives) {
    NEEDS_RANKS(2);
    std::vector<framed_buffer> outgoing;
    std::vector<event> sent;
    for (int message = 0; message < 20; ++message) {
        outgoing.emplace_back(pattern(m_rank, message, message % 2 ? 300 : 90 * kib));
        sent.push_back(enqueue_send(m_on.get(), outgoing.back().whole(), right(), 3, m_comm));
    }
    barrier();
    for (int message = 0; message < 20; ++message) {
        SCOPED_TRACE(message);
        const std::size_t size = message % 2 ? 300 : 90 * kib;
        const framed_buffer incoming(size);
        ASSERT_TRUE(completes(enqueue_receive(m_on.get(), incoming.whole(), left(), 3, m_comm)));
        EXPECT_TRUE(incoming.holds(pattern(left(), message, size)));
    }
    for (const event& done : sent) EXPECT_TRUE(completes(done));
}

TEST_F(matching, by_any_source_tells_the_rank_that_sent) {
    const std::size_t size = 5000;
    const framed_buffer outgoing(pattern(m_rank, 1, size));
    const event sent = enqueue_send(m_on.get(), outgoing.whole(), 0, 21, m_comm);
    if (m_rank == 0) {
        std::set<int> sources;
        for (int message = 0; message < m_size; ++message) {
            const framed_buffer incoming(size);
            const event received = enqueue_receive(m_on.get(), incoming.whole(), MPI_ANY_SOURCE, 21, m_comm);
            ASSERT_TRUE(completes(received));
            const int source = transfer_info<int>(received.get(), CL_TRANSFER_MPI_SOURCE);
            EXPECT_EQ(transfer_info<int>(received.get(), CL_TRANSFER_MPI_TAG), 21);
            EXPECT_TRUE(incoming.holds(pattern(source, 1, size)));
            sources.insert(source);
        }
        EXPECT_EQ(sources.size(), static_cast<std::size_t>(m_size));
    }
    EXPECT_TRUE(completes(sent));
}

TEST_F(matching, by_any_tag_takes_messages_in_the_order_of_the_sender) {
    const std::vector<int> tags{5, 900, 2, 0, 31};
    std::vector<framed_buffer> outgoing;
    std::vector<event> sent;
    for (int tag : tags) {
        outgoing.emplace_back(pattern(m_rank, tag, 66 * kib));
        sent.push_back(enqueue_send(m_on.get(), outgoing.back().whole(), right(), tag, m_comm));
    }
    for (int tag : tags) {
        SCOPED_TRACE(tag);
        const framed_buffer incoming(66 * kib);
        const event received = enqueue_receive(m_on.get(), incoming.whole(), left(), MPI_ANY_TAG, m_comm);
        ASSERT_TRUE(completes(received));
        EXPECT_EQ(transfer_info<int>(received.get(), CL_TRANSFER_MPI_TAG), tag);
        EXPECT_EQ(transfer_info<int>(received.get(), CL_TRANSFER_MPI_SOURCE), left());
        EXPECT_TRUE(incoming.holds(pattern(left(), tag, 66 * kib)));
    }
    for (const event& done : sent) EXPECT_TRUE(completes(done));
}

TEST_F(matching, by_both_wildcards_tells_rank_tag_and_bytes) {
    const auto size_from = [](int rank) { return std::size_t{1000} * (rank + 1); };
    const framed_buffer outgoing(pattern(m_rank, 1, size_from(m_rank)));
    const event sent = enqueue_send(m_on.get(), outgoing.whole(), 0, 40 + m_rank, m_comm);
    if (m_rank == 0) {
        for (int message = 0; message < m_size; ++message) {
            const framed_buffer incoming(100 * kib);
            const event received = enqueue_receive(m_on.get(), incoming.whole(), MPI_ANY_SOURCE, MPI_ANY_TAG, m_comm);
            ASSERT_TRUE(completes(received));
            const int source = transfer_info<int>(received.get(), CL_TRANSFER_MPI_SOURCE);
            EXPECT_EQ(transfer_info<int>(received.get(), CL_TRANSFER_MPI_TAG), 40 + source);
            EXPECT_EQ(transfer_info<std::size_t>(received.get(), CL_TRANSFER_BYTES_MOVED), size_from(source));
            EXPECT_TRUE(incoming.holds(pattern(source, 1, size_from(source))));
        }
    }
    EXPECT_TRUE(completes(sent));
}

TEST_F(matching, gives_the_first_message_to_a_wildcard_that_was_enqueued_first) {
    const std::size_t size = 80 * kib;
    const framed_buffer first(size);
    const framed_buffer second(size);
    const event wild = enqueue_receive(m_on.get(), first.whole(), MPI_ANY_SOURCE, MPI_ANY_TAG, m_comm);
    const event named = enqueue_receive(m_on.get(), second.whole(), left(), 6, m_comm);
    const framed_buffer outgoing_first(pattern(m_rank, 1, size));
    const framed_buffer outgoing_second(pattern(m_rank, 2, size));
    const event sent_first = enqueue_send(m_on.get(), outgoing_first.whole(), right(), 6, m_comm);
    const event sent_second = enqueue_send(m_on.get(), outgoing_second.whole(), right(), 6, m_comm);
    ASSERT_TRUE(completes(wild));
    ASSERT_TRUE(completes(named));
    EXPECT_TRUE(first.holds(pattern(left(), 1, size)));
    EXPECT_TRUE(second.holds(pattern(left(), 2, size)));
    EXPECT_TRUE(completes(sent_first));
    EXPECT_TRUE(completes(sent_second));
}

TEST_F(matching, lets_a_receive_be_larger_than_the_message) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{9}, 65 * kib, 2000 * kib}) {
        SCOPED_TRACE(size);
        const framed_buffer outgoing(pattern(m_rank, 1, size));
        const framed_buffer incoming(size + 100 * kib);
        const event received = enqueue_receive(m_on.get(), incoming.whole(), left(), 1, m_comm);
        const event sent = enqueue_send(m_on.get(), outgoing.whole(), right(), 1, m_comm);
        ASSERT_TRUE(completes(received));
        ASSERT_TRUE(completes(sent));
        EXPECT_EQ(transfer_info<std::size_t>(received.get(), CL_TRANSFER_BYTES_MOVED), size);
        EXPECT_TRUE(incoming.holds(pattern(left(), 1, size)));
    }
}

TEST_F(matching, completes_transfers_with_the_null_rank_and_leaves_the_buffer) {
    const framed_buffer untouched(5000);
    const event sent = enqueue_send(m_on.get(), untouched.whole(), MPI_PROC_NULL, 1, m_comm);
    const event received = enqueue_receive(m_on.get(), untouched.whole(), MPI_PROC_NULL, 1, m_comm);
    ASSERT_TRUE(completes(sent));
    ASSERT_TRUE(completes(received));
    EXPECT_EQ(transfer_info<std::size_t>(received.get(), CL_TRANSFER_BYTES_MOVED), 0u);
    EXPECT_EQ(transfer_info<int>(received.get(), CL_TRANSFER_MPI_SOURCE), MPI_PROC_NULL);
    EXPECT_EQ(transfer_info<int>(received.get(), CL_TRANSFER_MPI_TAG), MPI_ANY_TAG);
    EXPECT_TRUE(untouched.holds({}));
}

TEST_F(matching, shifts_data_along_a_line_that_ends_in_null_ranks) {
    const std::size_t size = 70 * kib;
    const int next = m_rank + 1 < m_size ? m_rank + 1 : MPI_PROC_NULL;
    const int previous = m_rank > 0 ? m_rank - 1 : MPI_PROC_NULL;
    const framed_buffer outgoing(pattern(m_rank, 1, size));
    const framed_buffer incoming(size);
    event done;
    ASSERT_EQ(clEnqueueSendrecvBuffer(m_on.get(), outgoing.get(), incoming.get(), CL_FALSE, framed_buffer::margin, size,
                                      next, 1, framed_buffer::margin, size, previous, 1, m_comm, 0, nullptr,
                                      done.out()),
              CL_SUCCESS);
    ASSERT_TRUE(completes(done));
    EXPECT_TRUE(incoming.holds(m_rank > 0 ? pattern(previous, 1, size) : bytes{}));
}

TEST_F(matching, keeps_the_turn_of_a_receive_that_waits_for_its_list) {
    const std::size_t size = 3000;
    const event gate = own().make_user_event();
    const framed_buffer first(size);
    const framed_buffer second(size);
    const framed_buffer other(size);
    const event gated = enqueue_receive(m_on.get(), first.whole(), left(), 1, m_comm, {gate.get()});
    const event later = enqueue_receive(m_on.get(), second.whole(), left(), 1, m_comm);
    const event other_tag = enqueue_receive(m_on.get(), other.whole(), left(), 2, m_comm);
    std::vector<framed_buffer> outgoing;
    std::vector<event> sent;
    for (int message = 1; message <= 3; ++message) {
        outgoing.emplace_back(pattern(m_rank, message, size));
        sent.push_back(enqueue_send(m_on.get(), outgoing.back().whole(), right(), message == 3 ? 2 : 1, m_comm));
    }
    // The other tag is not held back, and its message left after both of this one.
    ASSERT_TRUE(completes(other_tag));
    EXPECT_TRUE(other.holds(pattern(left(), 3, size)));
    EXPECT_GT(status_of(gated.get()), CL_COMPLETE);
    EXPECT_GT(status_of(later.get()), CL_COMPLETE);
    check(clSetUserEventStatus(gate.get(), CL_COMPLETE), "clSetUserEventStatus");
    ASSERT_TRUE(completes(gated));
    ASSERT_TRUE(completes(later));
    EXPECT_TRUE(first.holds(pattern(left(), 1, size)));
    EXPECT_TRUE(second.holds(pattern(left(), 2, size)));
    for (const event& done : sent) EXPECT_TRUE(completes(done));
}

TEST_F(matching, keeps_the_turn_of_a_wildcard_receive_that_waits_for_its_list) {
    const std::size_t size = 90 * kib;
    const event gate = own().make_user_event();
    const framed_buffer first(size);
    const framed_buffer second(size);
    const event gated = enqueue_receive(m_on.get(), first.whole(), MPI_ANY_SOURCE, MPI_ANY_TAG, m_comm, {gate.get()});
    const event later = enqueue_receive(m_on.get(), second.whole(), left(), 8, m_comm);
    const framed_buffer outgoing_first(pattern(m_rank, 1, size));
    const framed_buffer outgoing_second(pattern(m_rank, 2, size));
    const event sent_first = enqueue_send(m_on.get(), outgoing_first.whole(), right(), 8, m_comm);
    const event sent_second = enqueue_send(m_on.get(), outgoing_second.whole(), right(), 8, m_comm);
    barrier();
    check(clSetUserEventStatus(gate.get(), CL_COMPLETE), "clSetUserEventStatus");
    ASSERT_TRUE(completes(gated));
    ASSERT_TRUE(completes(later));
    EXPECT_TRUE(first.holds(pattern(left(), 1, size)));
    EXPECT_TRUE(second.holds(pattern(left(), 2, size)));
    EXPECT_TRUE(completes(sent_first));
    EXPECT_TRUE(completes(sent_second));
}

TEST_F(matching, gives_what_a_gated_receive_has_already_taken_to_the_next_if_it_fails) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{3000}, 90 * kib, 3000 * kib}) {
        SCOPED_TRACE(size);
        const option_scope strategy("strategy", "pinned"); // through staging memory, as on a device with its own
        barrier();
        const event gate = own().make_user_event();
        const framed_buffer first(size);
        const framed_buffer second(size);
        const framed_buffer third(size);
        const event gated = enqueue_receive(m_on.get(), first.whole(), left(), 1, m_comm, {gate.get()});
        const event later = enqueue_receive(m_on.get(), second.whole(), left(), 1, m_comm);
        const framed_buffer outgoing_first(pattern(m_rank, 1, size));
        const framed_buffer outgoing_second(pattern(m_rank, 2, size));
        const event sent_first = enqueue_send(m_on.get(), outgoing_first.whole(), right(), 1, m_comm);
        // Of at most one block, it is in host memory already.
        EXPECT_TRUE(completes(sent_first));
        const event sent_second = enqueue_send(m_on.get(), outgoing_second.whole(), right(), 1, m_comm);
        EXPECT_TRUE(first.holds({})) << "the device's memory changed before the gate was open";
        check(clSetUserEventStatus(gate.get(), -77), "clSetUserEventStatus");
        EXPECT_TRUE(fails(gated));
        ASSERT_TRUE(completes(later));
        EXPECT_TRUE(second.holds(pattern(left(), 1, size)));
        ASSERT_TRUE(completes(enqueue_receive(m_on.get(), third.whole(), left(), 1, m_comm)));
        EXPECT_TRUE(third.holds(pattern(left(), 2, size)));
        EXPECT_TRUE(first.holds({}));
        EXPECT_TRUE(completes(sent_second));
        barrier();
    }
}

TEST_F(matching, keeps_the_turn_of_a_send_that_waits_for_its_list) {
    for (const std::size_t size : {std::size_t{3000}, 90 * kib}) {
        SCOPED_TRACE(size);
        const event gate = own().make_user_event();
        const framed_buffer outgoing_first(pattern(m_rank, 1, size));
        const framed_buffer outgoing_second(pattern(m_rank, 2, size));
        const framed_buffer outgoing_other(pattern(m_rank, 3, size));
        const event gated = enqueue_send(m_on.get(), outgoing_first.whole(), right(), 1, m_comm, {gate.get()});
        const event later = enqueue_send(m_on.get(), outgoing_second.whole(), right(), 1, m_comm);
        const event other = enqueue_send(m_on.get(), outgoing_other.whole(), right(), 2, m_comm);
        const framed_buffer first(size);
        const framed_buffer second(size);
        const framed_buffer third(size);
        const event received_first = enqueue_receive(m_on.get(), first.whole(), left(), 1, m_comm);
        const event received_second = enqueue_receive(m_on.get(), second.whole(), left(), 1, m_comm);
        const event received_other = enqueue_receive(m_on.get(), third.whole(), left(), 2, m_comm);
        ASSERT_TRUE(completes(received_other));
        EXPECT_TRUE(third.holds(pattern(left(), 3, size)));
        EXPECT_TRUE(completes(other));
        EXPECT_GT(status_of(gated.get()), CL_COMPLETE);
        check(clSetUserEventStatus(gate.get(), CL_COMPLETE), "clSetUserEventStatus");
        ASSERT_TRUE(completes(received_first));
        ASSERT_TRUE(completes(received_second));
        EXPECT_TRUE(first.holds(pattern(left(), 1, size)));
        EXPECT_TRUE(second.holds(pattern(left(), 2, size)));
        EXPECT_TRUE(completes(gated));
        EXPECT_TRUE(completes(later));
    }
}

TEST_F(matching, of_a_send_and_receive_in_one_command_is_as_of_two) {
    NEEDS_RANKS(2);
    if (partner() == MPI_PROC_NULL) return;
    const std::size_t size = 100 * kib;
    const framed_buffer outgoing(pattern(m_rank, 1, size));
    const framed_buffer incoming(size);
    if (m_rank % 2 == 0) {
        event done;
        ASSERT_EQ(clEnqueueSendrecvBuffer(m_on.get(), outgoing.get(), incoming.get(), CL_FALSE, framed_buffer::margin,
                                          size, partner(), 1, framed_buffer::margin, size, MPI_ANY_SOURCE, MPI_ANY_TAG,
                                          m_comm, 0, nullptr, done.out()),
                  CL_SUCCESS);
        ASSERT_TRUE(completes(done));
        EXPECT_EQ(transfer_info<int>(done.get(), CL_TRANSFER_MPI_SOURCE), partner());
        EXPECT_EQ(transfer_info<int>(done.get(), CL_TRANSFER_MPI_TAG), 2);
    } else {
        const event sent = enqueue_send(m_on.get(), outgoing.whole(), partner(), 2, m_comm);
        const event received = enqueue_receive(m_on.get(), incoming.whole(), partner(), 1, m_comm);
        ASSERT_TRUE(completes(sent));
        ASSERT_TRUE(completes(received));
    }
    EXPECT_TRUE(incoming.holds(pattern(partner(), 1, size)));
}

} // namespace
} // namespace system_test
