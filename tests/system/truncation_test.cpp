// SPDX-License-Identifier: Apache-2.0
// A message that is larger than its receive fails what must fail, writes nothing beyond, and the channel lives on.
#include "ranks.hpp"

namespace system_test {
namespace {

constexpr std::size_t kib = 1024;
constexpr std::size_t mib = 1024 * kib;

class truncation : public ranks_test {
  protected:
    [[nodiscard]] int right() const { return (m_rank + 1) % m_size; }
    [[nodiscard]] int left() const { return (m_rank + m_size - 1) % m_size; }

    /// The bytes that the receive reports are there, at most `capacity`, and nothing around them has changed.
    void expect_truthful(const event& received, const framed_buffer& incoming, int message,
                         std::size_t capacity) const {
        const auto moved = transfer_info<std::size_t>(received.get(), CL_TRANSFER_BYTES_MOVED);
        EXPECT_LE(moved, capacity);
        const bytes all = own().read(incoming.get(), 0, capacity + 2 * framed_buffer::margin);
        const auto begin = all.begin() + framed_buffer::margin;
        EXPECT_TRUE(same(bytes(begin, begin + static_cast<std::ptrdiff_t>(moved)), pattern(left(), message, moved)));
        const bytes margin(framed_buffer::margin, framed_buffer::untouched);
        EXPECT_TRUE(same(bytes(all.begin(), begin), margin));
        EXPECT_TRUE(same(bytes(begin + static_cast<std::ptrdiff_t>(capacity), all.end()), margin));
    }

    /// One good message after a bad one.
    void expect_usable(int tag, std::size_t size) const {
        const framed_buffer outgoing(pattern(m_rank, 99, size));
        const framed_buffer incoming(size);
        const event received = enqueue_receive(m_on.get(), incoming.whole(), left(), tag, m_comm);
        const event sent = enqueue_send(m_on.get(), outgoing.whole(), right(), tag, m_comm);
        EXPECT_TRUE(completes(received));
        EXPECT_TRUE(completes(sent));
        EXPECT_TRUE(incoming.holds(pattern(left(), 99, size)));
    }

    const queue m_on = make_queue(order::out_of_order);
};

TEST_F(truncation, of_a_large_message_fails_both_sides) {
    const framed_buffer outgoing(pattern(m_rank, 1, 5 * mib));
    const framed_buffer incoming(3 * mib);
    const event received = enqueue_receive(m_on.get(), incoming.whole(), left(), 1, m_comm);
    const event sent = enqueue_send(m_on.get(), outgoing.whole(), right(), 1, m_comm);
    EXPECT_TRUE(ends_with(received, CL_TRANSFER_MESSAGE_TRUNCATED));
    EXPECT_TRUE(ends_with(sent, CL_TRANSFER_MESSAGE_TRUNCATED));
    EXPECT_NE(transfer_text(received.get(), CL_TRANSFER_ERROR_MESSAGE), "");
    EXPECT_NE(transfer_text(sent.get(), CL_TRANSFER_ERROR_MESSAGE), "");
    expect_truthful(received, incoming, 1, 3 * mib);
    expect_usable(1, 5 * mib);
    expect_usable(1, 10);
}

TEST_F(truncation, by_one_byte_is_noticed) {
    const framed_buffer outgoing(pattern(m_rank, 1, mib + 1));
    const framed_buffer incoming(mib);
    const event received = enqueue_receive(m_on.get(), incoming.whole(), left(), 1, m_comm);
    const event sent = enqueue_send(m_on.get(), outgoing.whole(), right(), 1, m_comm);
    EXPECT_TRUE(ends_with(received, CL_TRANSFER_MESSAGE_TRUNCATED));
    EXPECT_TRUE(ends_with(sent, CL_TRANSFER_MESSAGE_TRUNCATED));
    expect_truthful(received, incoming, 1, mib);
    expect_usable(1, mib);
}

TEST_F(truncation, of_a_large_message_that_came_first_fails_both_sides) {
    NEEDS_RANKS(2);
    const framed_buffer outgoing(pattern(m_rank, 1, 2 * mib));
    const framed_buffer incoming(100 * kib);
    const event sent = enqueue_send(m_on.get(), outgoing.whole(), right(), 1, m_comm);
    barrier();
    const event received = enqueue_receive(m_on.get(), incoming.whole(), left(), 1, m_comm);
    EXPECT_TRUE(ends_with(received, CL_TRANSFER_MESSAGE_TRUNCATED));
    EXPECT_TRUE(ends_with(sent, CL_TRANSFER_MESSAGE_TRUNCATED));
    expect_truthful(received, incoming, 1, 100 * kib);
    expect_usable(1, 2 * mib);
}

TEST_F(truncation, of_a_message_into_an_empty_receive_fails_both_sides) {
    const framed_buffer outgoing(pattern(m_rank, 1, mib));
    const framed_buffer incoming(std::size_t{0});
    const event received = enqueue_receive(m_on.get(), incoming.whole(), left(), 1, m_comm);
    const event sent = enqueue_send(m_on.get(), outgoing.whole(), right(), 1, m_comm);
    EXPECT_TRUE(ends_with(received, CL_TRANSFER_MESSAGE_TRUNCATED));
    EXPECT_TRUE(ends_with(sent, CL_TRANSFER_MESSAGE_TRUNCATED));
    expect_truthful(received, incoming, 1, 0);
}

TEST_F(truncation, of_a_small_message_fails_the_receive_alone) {
    NEEDS_RANKS(2);
    const framed_buffer outgoing(pattern(m_rank, 1, 1000));
    const framed_buffer incoming(400);
    const event sent = enqueue_send(m_on.get(), outgoing.whole(), right(), 1, m_comm);
    EXPECT_TRUE(completes(sent));
    barrier();
    const event received = enqueue_receive(m_on.get(), incoming.whole(), left(), 1, m_comm);
    EXPECT_TRUE(ends_with(received, CL_TRANSFER_MESSAGE_TRUNCATED));
    EXPECT_EQ(status_of(sent.get()), CL_COMPLETE);
    expect_truthful(received, incoming, 1, 400);
    expect_usable(1, 1000);
}

TEST_F(truncation, of_a_small_message_fails_both_sides_if_nothing_is_eager) {
    const option_scope eager("eager", "0");
    for (const std::size_t size : {std::size_t{9}, std::size_t{1000}, 60 * kib}) {
        SCOPED_TRACE(size);
        const framed_buffer outgoing(pattern(m_rank, 1, size));
        const framed_buffer incoming(size / 2);
        const event received = enqueue_receive(m_on.get(), incoming.whole(), left(), 1, m_comm);
        const event sent = enqueue_send(m_on.get(), outgoing.whole(), right(), 1, m_comm);
        EXPECT_TRUE(ends_with(received, CL_TRANSFER_MESSAGE_TRUNCATED));
        EXPECT_TRUE(ends_with(sent, CL_TRANSFER_MESSAGE_TRUNCATED));
        expect_truthful(received, incoming, 1, size / 2);
        expect_usable(1, size);
    }
}

TEST_F(truncation, fails_a_send_and_receive_in_one_command) {
    const framed_buffer outgoing(pattern(m_rank, 1, mib));
    const framed_buffer incoming(mib / 2);
    event done;
    ASSERT_EQ(clEnqueueSendrecvBuffer(m_on.get(), outgoing.get(), incoming.get(), CL_FALSE, framed_buffer::margin, mib,
                                      right(), 1, framed_buffer::margin, mib / 2, left(), 1, m_comm, 0, nullptr,
                                      done.out()),
              CL_SUCCESS);
    EXPECT_TRUE(ends_with(done, CL_TRANSFER_MESSAGE_TRUNCATED));
    expect_usable(1, mib);
}

TEST_F(truncation, is_the_code_of_a_blocking_receive) {
    const framed_buffer outgoing(pattern(m_rank, 1, mib));
    const framed_buffer incoming(mib / 2);
    const event sent = enqueue_send(m_on.get(), outgoing.whole(), right(), 1, m_comm);
    event received;
    EXPECT_EQ(clEnqueueRecvBuffer(m_on.get(), incoming.get(), CL_TRUE, framed_buffer::margin, mib / 2, left(), 1,
                                  m_comm, 0, nullptr, received.out()),
              CL_TRANSFER_MESSAGE_TRUNCATED);
    ASSERT_NE(received.get(), nullptr);
    EXPECT_TRUE(ends_with(received, CL_TRANSFER_MESSAGE_TRUNCATED));
    EXPECT_TRUE(ends_with(sent, CL_TRANSFER_MESSAGE_TRUNCATED));
}

TEST_F(truncation, keeps_to_its_own_message_among_many) {
    constexpr int count = 30;
    const std::size_t size = 100 * kib;
    std::vector<framed_buffer> outgoing;
    std::vector<framed_buffer> incoming;
    std::vector<event> sent;
    std::vector<event> received;
    for (int message = 0; message < count; ++message) {
        const bool bad = message % 5 == 2;
        outgoing.emplace_back(pattern(m_rank, message, size));
        incoming.emplace_back(bad ? size - 1 : size);
    }
    for (std::size_t at = 0; at < count; ++at) {
        received.push_back(enqueue_receive(m_on.get(), incoming[at].whole(), left(), 1, m_comm));
        sent.push_back(enqueue_send(m_on.get(), outgoing[at].whole(), right(), 1, m_comm));
    }
    for (int message = 0; message < count; ++message) {
        SCOPED_TRACE(message);
        const auto at = static_cast<std::size_t>(message);
        const cl_int expected = message % 5 == 2 ? CL_TRANSFER_MESSAGE_TRUNCATED : CL_COMPLETE;
        ASSERT_TRUE(ends_with(received[at], expected));
        ASSERT_TRUE(ends_with(sent[at], expected));
        if (expected == CL_COMPLETE) {
            ASSERT_TRUE(incoming[at].holds(pattern(left(), message, size)));
        }
    }
}

} // namespace
} // namespace system_test
