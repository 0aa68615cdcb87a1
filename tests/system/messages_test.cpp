// SPDX-License-Identifier: Apache-2.0
// Messages between device buffers of ranks arrive whole: every size, queue kind and direction, many at once.
#include "ranks.hpp"

#include <numeric>
#include <random>
#include <tuple>

namespace system_test {
namespace {

constexpr std::size_t kib = 1024;
constexpr std::size_t mib = 1024 * kib;

const auto sizes = ::testing::Values(std::size_t{0}, std::size_t{1}, std::size_t{8}, std::size_t{1000}, 64 * kib - 1,
                                     64 * kib, 64 * kib + 1, mib + 3, 18 * mib);
const auto orders = ::testing::Values(order::in_order, order::out_of_order);
const auto blockings = ::testing::Values(blocking::no, blocking::yes);

using message_kind = std::tuple<std::size_t, order, blocking>;

std::string name_of(const ::testing::TestParamInfo<message_kind>& info) {
    return std::to_string(std::get<0>(info.param)) + "_bytes" +
           (std::get<1>(info.param) == order::in_order ? "_in_order" : "_out_of_order") +
           (std::get<2>(info.param) == blocking::yes ? "_blocking" : "");
}

class messages : public ranks_test {};
class messages_of : public ranks_test, public ::testing::WithParamInterface<message_kind> {};

TEST_P(messages_of, go_to_the_partner_and_back) {
    NEEDS_RANKS(2);
    const auto [size, kind, block] = GetParam();
    const int tag = 11;
    const bool first = m_rank % 2 == 0;
    const queue on = make_queue(kind);
    const framed_buffer outgoing(pattern(m_rank, 1, size));
    const framed_buffer incoming(size);

    event sent;
    event received;
    if (first) sent = enqueue_send(on.get(), outgoing.whole(), partner(), tag, m_comm, {}, block);
    received = enqueue_receive(on.get(), incoming.whole(), partner(), tag, m_comm, {}, block);
    if (!first) sent = enqueue_send(on.get(), outgoing.whole(), partner(), tag, m_comm, {}, block);

    ASSERT_TRUE(completes(sent));
    ASSERT_TRUE(completes(received));
    if (partner() == MPI_PROC_NULL) return;
    EXPECT_TRUE(incoming.holds(pattern(partner(), 1, size)));
    EXPECT_TRUE(outgoing.holds(pattern(m_rank, 1, size)));
    EXPECT_EQ(transfer_info<std::size_t>(sent.get(), CL_TRANSFER_BYTES_MOVED), size);
    EXPECT_EQ(transfer_info<std::size_t>(received.get(), CL_TRANSFER_BYTES_MOVED), size);
}

TEST_P(messages_of, are_exchanged_by_one_command) {
    const auto [size, kind, block] = GetParam();
    const int peer = m_size == 1 ? 0 : partner();
    const queue on = make_queue(kind);
    const framed_buffer outgoing(pattern(m_rank, 2, size));
    const framed_buffer incoming(size);

    event done;
    ASSERT_EQ(clEnqueueSendrecvBuffer(on.get(), outgoing.get(), incoming.get(), as_cl(block), framed_buffer::margin,
                                      size, peer, 12, framed_buffer::margin, size, peer, 12, m_comm, 0, nullptr,
                                      done.out()),
              CL_SUCCESS)
        << causeway_error_last_message();
    if (block == blocking::yes) {
        EXPECT_EQ(status_of(done.get()), CL_COMPLETE);
    }
    ASSERT_TRUE(completes(done));
    if (peer == MPI_PROC_NULL) return;
    EXPECT_TRUE(incoming.holds(pattern(peer, 2, size)));
    EXPECT_EQ(transfer_info<std::size_t>(done.get(), CL_TRANSFER_BYTES_SENT), size);
    EXPECT_EQ(transfer_info<std::size_t>(done.get(), CL_TRANSFER_BYTES_RECEIVED), size);
    EXPECT_EQ(transfer_info<std::size_t>(done.get(), CL_TRANSFER_BYTES_MOVED), 2 * size);
}

INSTANTIATE_TEST_SUITE_P(sizes, messages_of, ::testing::Combine(sizes, orders, blockings), name_of);

/// What they hold while they wait, such as room in a window, is not what the others need.
TEST_F(messages, that_are_read_ahead_arrive_in_receives_that_are_much_larger) {
    NEEDS_RANKS(2);
    // Which a receiver that knows nothing of them may want in windows of its device.
    const queue in_order = make_queue(order::in_order), out_of_order = make_queue(order::out_of_order);
    const framed_buffer incoming(4 * mib);
    const auto exchange = [&](std::size_t size, int message) {
        const framed_buffer outgoing(pattern(m_rank, message, size));
        const event received = enqueue_receive(out_of_order.get(), incoming.whole(), partner(), 1, m_comm);
        const framed_buffer filled(size);
        const unsigned char zero = 0;
        check(clEnqueueFillBuffer(in_order.get(), filled.get(), &zero, 1, 0, size, 0, nullptr, nullptr),
              "clEnqueueFillBuffer");
        const event sent = enqueue_send(in_order.get(), outgoing.whole(), partner(), 1, m_comm);
        EXPECT_TRUE(completes(received));
        EXPECT_TRUE(completes(sent));
        const bytes all = own().read(incoming.get(), framed_buffer::margin, size);
        EXPECT_TRUE(same(all, pattern(partner(), message, size))) << size;
    };
    int message = 1;
    for (int round = 0; round < 20; ++round)
        for (const std::size_t size : {4 * mib, 100 * kib, 512 * kib, 900 * kib}) exchange(size, message++);
}

TEST_F(messages, that_nobody_receives_yet_hold_up_no_other) {
    NEEDS_RANKS(2);
    constexpr int count = 40;
    constexpr int first_tag = 100;
    const queue on = make_queue(order::out_of_order);
    const framed_buffer outgoing(pattern(m_rank, 6, count * mib));
    const framed_buffer others(pattern(m_rank, 7, count * mib));
    const framed_buffer incoming(count * mib);
    const bool sends = m_rank % 2 == 0;
    // Windows are opened beside the first messages.
    for (int i = 0; i < 4; ++i) {
        event out = enqueue_send(on.get(), outgoing.whole(), partner(), 14, m_comm);
        event in = enqueue_receive(on.get(), incoming.whole(), partner(), 14, m_comm);
        ASSERT_TRUE(completes(out) && completes(in));
    }

    std::vector<event> moved;
    const auto part = [&](const framed_buffer& all, int i) {
        return range{all.get(), framed_buffer::margin + static_cast<std::size_t>(i) * mib, mib};
    };
    if (sends && partner() != MPI_PROC_NULL) {
        for (int i = 0; i < count; ++i)
            moved.push_back(enqueue_send(on.get(), part(others, i), partner(), first_tag + i, m_comm));
        moved.push_back(enqueue_send(on.get(), outgoing.whole(), partner(), 15, m_comm));
    } else if (partner() != MPI_PROC_NULL) {
        event large = enqueue_receive(on.get(), incoming.whole(), partner(), 15, m_comm);
        ASSERT_TRUE(completes(large));
        EXPECT_TRUE(incoming.holds(pattern(partner(), 6, count * mib)));
        for (int i = count - 1; i >= 0; --i)
            moved.push_back(enqueue_receive(on.get(), part(incoming, i), partner(), first_tag + i, m_comm));
    }
    for (auto& each : moved) ASSERT_TRUE(completes(each));
    if (!sends && partner() != MPI_PROC_NULL) {
        EXPECT_TRUE(incoming.holds(pattern(partner(), 7, count * mib)));
    }
}

TEST_F(messages, tell_command_type_queue_and_context) {
    NEEDS_RANKS(2);
    if (partner() == MPI_PROC_NULL) return;
    const queue on = make_queue(order::out_of_order);
    const framed_buffer outgoing(pattern(m_rank, 1, 100));
    const framed_buffer incoming(100);
    const event received = enqueue_receive(on.get(), incoming.whole(), partner(), 1, m_comm);
    const event sent = enqueue_send(on.get(), outgoing.whole(), partner(), 1, m_comm);
    ASSERT_TRUE(completes(sent));
    ASSERT_TRUE(completes(received));

    EXPECT_EQ(transfer_info<cl_command_type>(sent.get(), CL_TRANSFER_COMMAND_TYPE), CL_COMMAND_SEND_BUFFER);
    EXPECT_EQ(transfer_info<cl_command_type>(received.get(), CL_TRANSFER_COMMAND_TYPE), CL_COMMAND_RECV_BUFFER);
    EXPECT_EQ(transfer_info<cl_command_queue>(received.get(), CL_TRANSFER_COMMAND_QUEUE), on.get());
    EXPECT_EQ(transfer_info<cl_context>(received.get(), CL_TRANSFER_CONTEXT), own().context());
    EXPECT_EQ(transfer_info<cl_int>(received.get(), CL_TRANSFER_STATUS), CL_COMPLETE);
    EXPECT_EQ(transfer_text(received.get(), CL_TRANSFER_ERROR_MESSAGE), "");
}

TEST_F(messages, move_on_when_nobody_calls_in) {
    NEEDS_RANKS(2);
    if (partner() == MPI_PROC_NULL) return;
    const queue on = make_queue(order::out_of_order);
    const framed_buffer outgoing(pattern(m_rank, 1, 3 * mib));
    const framed_buffer incoming(3 * mib);
    const event received = enqueue_receive(on.get(), incoming.whole(), partner(), 1, m_comm);
    const event sent = enqueue_send(on.get(), outgoing.whole(), partner(), 1, m_comm);
    check(clFinish(on.get()), "clFinish");
    EXPECT_EQ(status_of(sent.get()), CL_COMPLETE);
    EXPECT_EQ(status_of(received.get()), CL_COMPLETE);
    EXPECT_TRUE(incoming.holds(pattern(partner(), 1, 3 * mib)));
}

TEST_F(messages, need_no_event) {
    const queue on = make_queue(order::out_of_order);
    const framed_buffer outgoing(pattern(m_rank, 1, 5000));
    const framed_buffer incoming(5000);
    const int right = (m_rank + 1) % m_size;
    const int left = (m_rank + m_size - 1) % m_size;
    ASSERT_EQ(clEnqueueRecvBuffer(on.get(), incoming.get(), CL_FALSE, framed_buffer::margin, 5000, left, 1, m_comm, 0,
                                  nullptr, nullptr),
              CL_SUCCESS);
    ASSERT_EQ(clEnqueueSendBuffer(on.get(), outgoing.get(), CL_FALSE, framed_buffer::margin, 5000, right, 1, m_comm, 0,
                                  nullptr, nullptr),
              CL_SUCCESS);
    ASSERT_EQ(clFinish(on.get()), CL_SUCCESS);
    EXPECT_TRUE(incoming.holds(pattern(left, 1, 5000)));
}

TEST_F(messages, go_round_a_ring_until_they_are_home) {
    const std::size_t size = mib + 3;
    const queue on = make_queue(order::in_order);
    const int right = (m_rank + 1) % m_size;
    const int left = (m_rank + m_size - 1) % m_size;
    const framed_buffer even(pattern(m_rank, 1, size));
    const framed_buffer odd(size);
    event last;
    // Twice round if the number of ranks is odd: the message is home in the buffer it began in.
    const int steps = m_size % 2 == 0 ? m_size : 2 * m_size;
    for (int step = 0; step < steps; ++step) {
        const framed_buffer& from = step % 2 == 0 ? even : odd;
        const framed_buffer& to = step % 2 == 0 ? odd : even;
        ASSERT_EQ(clEnqueueSendrecvBuffer(on.get(), from.get(), to.get(), CL_FALSE, framed_buffer::margin, size, right,
                                          step, framed_buffer::margin, size, left, step, m_comm, 0, nullptr,
                                          last.out()),
                  CL_SUCCESS);
    }
    ASSERT_TRUE(completes(last));
    EXPECT_TRUE(even.holds(pattern(m_rank, 1, size)));
    EXPECT_TRUE(odd.holds(pattern(right, 1, size)));
}

TEST_F(messages, to_oneself_arrive_without_blocking) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{8}, 64 * kib, 2 * mib + 1}) {
        SCOPED_TRACE(size);
        const queue on = make_queue(order::out_of_order);
        const framed_buffer outgoing(pattern(m_rank, 3, size));
        const framed_buffer incoming(size);
        const event sent = enqueue_send(on.get(), outgoing.whole(), m_rank, 5, m_comm);
        const event received = enqueue_receive(on.get(), incoming.whole(), m_rank, 5, m_comm);
        ASSERT_TRUE(completes(sent));
        ASSERT_TRUE(completes(received));
        EXPECT_TRUE(incoming.holds(pattern(m_rank, 3, size)));
        EXPECT_EQ(transfer_info<int>(received.get(), CL_TRANSFER_MPI_SOURCE), m_rank);
    }
}

TEST_F(messages, to_oneself_arrive_between_two_in_order_queues) {
    const std::size_t size = 3 * mib;
    const queue sending = make_queue(order::in_order);
    const queue receiving = make_queue(order::in_order);
    const framed_buffer outgoing(pattern(m_rank, 3, size));
    const framed_buffer incoming(size);
    const event received = enqueue_receive(receiving.get(), incoming.whole(), m_rank, 5, m_comm);
    const event sent = enqueue_send(sending.get(), outgoing.whole(), m_rank, 5, m_comm, {}, blocking::yes);
    ASSERT_TRUE(completes(sent));
    ASSERT_TRUE(completes(received));
    EXPECT_TRUE(incoming.holds(pattern(m_rank, 3, size)));
}

TEST_F(messages, that_are_small_complete_before_their_receive_exists) {
    NEEDS_RANKS(2);
    if (partner() == MPI_PROC_NULL) {
        barrier();
        return;
    }
    const std::size_t size = 1000;
    const queue on = make_queue(order::out_of_order);
    const framed_buffer outgoing(pattern(m_rank, 1, size));
    const framed_buffer incoming(size);
    const event sent = enqueue_send(on.get(), outgoing.whole(), partner(), 1, m_comm);
    EXPECT_TRUE(completes(sent));
    barrier();
    const event received = enqueue_receive(on.get(), incoming.whole(), partner(), 1, m_comm);
    ASSERT_TRUE(completes(received));
    EXPECT_TRUE(incoming.holds(pattern(partner(), 1, size)));
}

TEST_F(messages, that_are_large_wait_for_their_receive) {
    NEEDS_RANKS(2);
    if (partner() == MPI_PROC_NULL) {
        barrier();
        return;
    }
    const std::size_t size = 2 * mib;
    const queue on = make_queue(order::out_of_order);
    const framed_buffer outgoing(pattern(m_rank, 1, size));
    const framed_buffer incoming(size);
    const framed_buffer other(size);
    const event sent = enqueue_send(on.get(), outgoing.whole(), partner(), 1, m_comm);
    const event other_sent = enqueue_send(on.get(), outgoing.whole(), partner(), 2, m_comm);
    const event other_received = enqueue_receive(on.get(), other.whole(), partner(), 2, m_comm);
    ASSERT_TRUE(completes(other_sent));
    ASSERT_TRUE(completes(other_received));
    EXPECT_GT(status_of(sent.get()), CL_COMPLETE);
    barrier();
    const event received = enqueue_receive(on.get(), incoming.whole(), partner(), 1, m_comm);
    ASSERT_TRUE(completes(received));
    ASSERT_TRUE(completes(sent));
    EXPECT_TRUE(incoming.holds(pattern(partner(), 1, size)));
}

class messages_between_all : public ranks_test, public ::testing::WithParamInterface<order> {};

TEST_P(messages_between_all, are_sixty_four_at_once_each_way) {
    constexpr int per_pair = 64;
    constexpr int tags = 8;
    const auto size_of = [](int from, int to, int message) {
        std::minstd_rand random(static_cast<unsigned>(1 + from * 10007 + to * 101 + message));
        return message % 9 == 0 ? std::size_t{0} : static_cast<std::size_t>(random() % (120 * kib));
    };
    const auto id_of = [](int to, int message) { return to * per_pair + message; };

    struct lane {
        queue sending;
        queue receiving;
        std::vector<framed_buffer> outgoing;
        std::vector<framed_buffer> incoming;
        std::vector<event> sent;
        std::vector<event> received;
    };
    std::vector<lane> lanes(static_cast<std::size_t>(m_size));
    for (int peer = 0; peer < m_size; ++peer) {
        lane& with = lanes[static_cast<std::size_t>(peer)];
        with.sending = make_queue(GetParam());
        with.receiving = make_queue(GetParam());
        for (int message = 0; message < per_pair; ++message) {
            with.outgoing.emplace_back(pattern(m_rank, id_of(peer, message), size_of(m_rank, peer, message)));
            with.incoming.emplace_back(size_of(peer, m_rank, message));
        }
    }
    for (int message = 0; message < per_pair; ++message) {
        for (int peer = 0; peer < m_size; ++peer) {
            lane& with = lanes[static_cast<std::size_t>(peer)];
            const auto at = static_cast<std::size_t>(message);
            with.sent.push_back(
                enqueue_send(with.sending.get(), with.outgoing[at].whole(), peer, message % tags, m_comm));
            with.received.push_back(
                enqueue_receive(with.receiving.get(), with.incoming[at].whole(), peer, message % tags, m_comm));
        }
    }
    for (int peer = 0; peer < m_size; ++peer) {
        const lane& with = lanes[static_cast<std::size_t>(peer)];
        for (int message = 0; message < per_pair; ++message) {
            SCOPED_TRACE(::testing::Message() << "peer " << peer << ", message " << message);
            const auto at = static_cast<std::size_t>(message);
            ASSERT_TRUE(completes(with.sent[at]));
            ASSERT_TRUE(completes(with.received[at]));
            ASSERT_TRUE(with.incoming[at].holds(pattern(peer, id_of(m_rank, message), size_of(peer, m_rank, message))));
        }
    }
}

TEST_P(messages_between_all, are_small_and_large_in_an_order_of_their_own_on_each_rank) {
    constexpr int per_pair = 24;
    // Every power of two is as likely as every other: most are eager, some have many blocks.
    const auto size_of = [](int from, int to, int message) {
        std::mt19937 random(static_cast<unsigned>(77 + from * 10007 + to * 101 + message));
        const auto magnitude = random() % 23;
        return static_cast<std::size_t>(random() % (2u << magnitude));
    };
    const auto id_of = [](int to, int message) { return to * per_pair + message; };

    struct traffic {
        int peer;
        int message;
        framed_buffer outgoing;
        framed_buffer incoming;
        event sent;
        event received;
    };
    std::vector<traffic> all;
    for (int peer = 0; peer < m_size; ++peer)
        for (int message = 0; message < per_pair; ++message)
            all.push_back({peer, message,
                           framed_buffer(pattern(m_rank, id_of(peer, message), size_of(m_rank, peer, message))),
                           framed_buffer(size_of(peer, m_rank, message)), event(), event()});

    // Each message has a tag and each direction a queue of its own; only in-order queues must not be shuffled, for a
    // send that waits behind another one could be what that one's receiver waits for.
    std::vector<std::size_t> sends(all.size());
    std::iota(sends.begin(), sends.end(), std::size_t{0});
    std::vector<std::size_t> receives = sends;
    if (GetParam() == order::out_of_order) {
        std::mt19937 random(static_cast<unsigned>(5 + m_rank));
        std::shuffle(sends.begin(), sends.end(), random);
        std::shuffle(receives.begin(), receives.end(), random);
    }
    std::vector<queue> sending;
    std::vector<queue> receiving;
    for (int peer = 0; peer < m_size; ++peer) {
        sending.push_back(make_queue(GetParam()));
        receiving.push_back(make_queue(GetParam()));
    }
    for (std::size_t turn = 0; turn < all.size(); ++turn) {
        traffic& out = all[sends[turn]];
        traffic& in = all[receives[turn]];
        out.sent = enqueue_send(sending[static_cast<std::size_t>(out.peer)].get(), out.outgoing.whole(), out.peer,
                                out.message, m_comm);
        in.received = enqueue_receive(receiving[static_cast<std::size_t>(in.peer)].get(), in.incoming.whole(), in.peer,
                                      in.message, m_comm);
    }
    for (const traffic& one : all) {
        SCOPED_TRACE(::testing::Message() << "peer " << one.peer << ", message " << one.message);
        ASSERT_TRUE(completes(one.sent));
        ASSERT_TRUE(completes(one.received));
        ASSERT_TRUE(
            one.incoming.holds(pattern(one.peer, id_of(m_rank, one.message), size_of(one.peer, m_rank, one.message))));
    }
}

INSTANTIATE_TEST_SUITE_P(queues, messages_between_all, orders,
                         [](const auto& info) { return info.param == order::in_order ? "in_order" : "out_of_order"; });

TEST_F(messages, wait_for_kernels_and_let_kernels_wait) {
    constexpr std::size_t size = 100000;
    const int right = (m_rank + 1) % m_size;
    const int left = (m_rank + m_size - 1) % m_size;
    const queue computing = make_queue(order::in_order);
    const queue moving = make_queue(order::out_of_order);
    const kernel before = own().make_adding_kernel(3);
    const kernel after = own().make_adding_kernel(5);
    const buffer outgoing = own().make_buffer(pattern(m_rank, 1, size));
    const buffer incoming = own().make_buffer(size, 0);
    cl_mem argument = outgoing.get();
    check(clSetKernelArg(before.get(), 0, sizeof argument, &argument), "clSetKernelArg");
    argument = incoming.get();
    check(clSetKernelArg(after.get(), 0, sizeof argument, &argument), "clSetKernelArg");

    event computed;
    check(clEnqueueNDRangeKernel(computing.get(), before.get(), 1, nullptr, &size, nullptr, 0, nullptr, computed.out()),
          "clEnqueueNDRangeKernel");
    const event sent = enqueue_send(moving.get(), {outgoing.get(), 0, size}, right, 1, m_comm, {computed.get()});
    const event received = enqueue_receive(moving.get(), {incoming.get(), 0, size}, left, 1, m_comm);
    event added;
    const cl_event after_receive = received.get();
    check(clEnqueueNDRangeKernel(computing.get(), after.get(), 1, nullptr, &size, nullptr, 1, &after_receive,
                                 added.out()),
          "clEnqueueNDRangeKernel");
    check(clFlush(computing.get()), "clFlush");

    ASSERT_TRUE(completes(sent));
    ASSERT_EQ(wait(added.get()), CL_COMPLETE);
    bytes expected = pattern(left, 1, size);
    for (unsigned char& byte : expected) byte = static_cast<unsigned char>(byte + 8);
    EXPECT_TRUE(same(own().read(incoming.get(), 0, size), expected));
}

TEST_F(messages, go_from_buffers_that_the_host_may_read_to_buffers_that_it_may_write) {
    for (const std::size_t size : {std::size_t{1000}, 300 * kib}) {
        SCOPED_TRACE(size);
        const queue on = make_queue(order::out_of_order);
        const buffer outgoing = own().make_buffer(pattern(m_rank, 1, size), CL_MEM_HOST_READ_ONLY);
        const buffer incoming = own().make_buffer(bytes(size), CL_MEM_HOST_WRITE_ONLY);
        const event received = enqueue_receive(on.get(), {incoming.get(), 0, size}, partner(), 1, m_comm);
        ASSERT_TRUE(completes(enqueue_send(on.get(), {outgoing.get(), 0, size}, partner(), 1, m_comm)));
        ASSERT_TRUE(completes(received));
        if (partner() == MPI_PROC_NULL) continue;
        // The host may not ask what is there; the device may.
        const buffer readable = own().make_buffer(size, 0);
        check(clEnqueueCopyBuffer(own().queue(), incoming.get(), readable.get(), 0, 0, size, 0, nullptr, nullptr),
              "clEnqueueCopyBuffer");
        EXPECT_TRUE(same(own().read(readable.get(), 0, size), pattern(partner(), 1, size)));
    }
}

TEST_F(messages, follow_the_order_of_an_in_order_queue) {
    constexpr std::size_t size = 300000;
    const int right = (m_rank + 1) % m_size;
    const int left = (m_rank + m_size - 1) % m_size;
    const queue sending = make_queue(order::in_order);
    const queue receiving = make_queue(order::in_order);
    const kernel adding = own().make_adding_kernel(7);
    const buffer outgoing = own().make_buffer(pattern(m_rank, 1, size));
    const buffer incoming = own().make_buffer(size, 0);

    cl_mem argument = outgoing.get();
    check(clSetKernelArg(adding.get(), 0, sizeof argument, &argument), "clSetKernelArg");
    check(clEnqueueNDRangeKernel(sending.get(), adding.get(), 1, nullptr, &size, nullptr, 0, nullptr, nullptr),
          "clEnqueueNDRangeKernel");
    const event sent = enqueue_send(sending.get(), {outgoing.get(), 0, size}, right, 1, m_comm);
    check(clEnqueueNDRangeKernel(sending.get(), adding.get(), 1, nullptr, &size, nullptr, 0, nullptr, nullptr),
          "clEnqueueNDRangeKernel");
    const event received = enqueue_receive(receiving.get(), {incoming.get(), 0, size}, left, 1, m_comm);
    bytes read(size);
    check(clEnqueueReadBuffer(receiving.get(), incoming.get(), CL_FALSE, 0, size, read.data(), 0, nullptr, nullptr),
          "clEnqueueReadBuffer");
    check(clFinish(sending.get()), "clFinish");
    check(clFinish(receiving.get()), "clFinish");

    EXPECT_EQ(status_of(sent.get()), CL_COMPLETE);
    EXPECT_EQ(status_of(received.get()), CL_COMPLETE);
    bytes expected = pattern(left, 1, size);
    for (unsigned char& byte : expected) byte = static_cast<unsigned char>(byte + 7);
    EXPECT_TRUE(same(read, expected));
}

} // namespace
} // namespace system_test
