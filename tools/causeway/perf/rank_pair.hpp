// SPDX-License-Identifier: Apache-2.0
// What the routes between two ranks share: data and memory of one size, common clocks, single messages by hand.
#pragma once

#include "perf/bench.hpp"

#include <algorithm>
#include <cstring>

namespace perf {

/// Both ranks make it and call the same functions in the same order.
class rank_pair {
  public:
    static constexpr int tag = 1;
    /// Copies of a message that each process may hold: data, source, target, page-locked memory, three in ordinary
    /// memory, staging, MPI.
    static constexpr std::size_t copies_held = 9;

    rank_pair(session& session, const bench_device& where, std::size_t bytes)
        : m_session(session), m_where(where), m_comm(session.comm()), m_rank(session.rank()), m_peer(1 - m_rank),
          m_bytes(bytes), m_data(where, bytes), m_source(m_data.on_device(where, session.buffers())),
          m_target(make_buffer(where, bytes, session.buffers())),
          m_pinned(where.context.get(), where.in_order.get(), bytes), m_outgoing(bytes), m_incoming(bytes),
          m_ordinary(m_data.whole_bytes()), m_repeats(bytes < 64 * kib ? 100
                                                      : bytes < mib    ? 20
                                                                       : 1) {
        std::memcpy(m_ordinary.data(), m_data.whole(), m_data.whole_bytes());
        int copies = where.host_memory ? 0 : 1;
        MPI_Allreduce(MPI_IN_PLACE, &copies, 1, MPI_INT, MPI_MAX, m_comm);
        m_copies_count = copies != 0;
        // Devices with own memory are so fast that wake-up time would show even in large messages, so a warm-up
        // precedes.
        m_is_warmed = m_copies_count && bytes >= mib;
        if (m_is_warmed) m_repeats = int(std::clamp<std::size_t>(gib / bytes, 1, 4));
        MPI_Comm node = MPI_COMM_NULL;
        MPI_Comm_split_type(m_comm, MPI_COMM_TYPE_SHARED, m_rank, MPI_INFO_NULL, &node);
        int here = 1;
        MPI_Comm_size(node, &here);
        MPI_Comm_free(&node);
        m_messages_count = here < 2 || !m_copies_count;
    }

  protected:
    [[nodiscard]] cl_command_queue queue() const { return m_where.in_order.get(); }

    /// Both ranks move the same window; rank 1's data lies one further, so that no rank finds its own bytes right.
    [[nodiscard]] std::size_t window_of(int rank) const { return m_window + std::size_t(rank); }
    [[nodiscard]] std::size_t own_offset() const { return test_data::offset_of(window_of(m_rank)); }
    /// In ordinary memory. It is not the copy that received bytes are compared with, because that lies in caches.
    [[nodiscard]] const std::byte* own_data() const { return m_ordinary.data() + own_offset(); }
    [[nodiscard]] const std::byte* peers_data() const { return m_data.at(window_of(m_peer)); }

    void verify_target() {
        if (m_where.host_memory) {
            // Verified where it lies, as after raw MPI: so each way finds the same bytes in the caches.
            const mapped_to_read found(queue(), m_target.get(), m_bytes);
            m_data.verify(found.data(), window_of(m_peer));
            return;
        }
        read_device(queue(), m_target.get(), 0, m_bytes, m_pinned.data());
        m_data.verify(m_pinned.data(), window_of(m_peer));
    }
    void verify_pinned() { m_data.verify(m_pinned.data(), window_of(m_peer)); }
    void verify_incoming() { m_data.verify(m_incoming.data(), window_of(m_peer)); }

    /// The slower rank's seconds for `action` between two barriers.
    template <class Action> double together(Action action) {
        MPI_Barrier(m_comm);
        double seconds = seconds_of(action);
        // PoCL 3.1 keeps what went through an out-of-order queue until clFinish, and each command looks at all of it.
        apps::check(clFinish(m_where.out_of_order.get()), "clFinish");
        MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, m_comm);
        return seconds;
    }

    /// Moves on to the next windows. Call before a run whose data is checked.
    void advance() { m_window += 2; }

    /// Half the seconds of a ping-pong between the ranks.
    template <class Send, class Receive> double there_and_back(Send send, Receive receive) {
        return repeated([&] {
                   if (m_rank == 0) {
                       send();
                       receive();
                   } else {
                       receive();
                       send();
                   }
               }) /
               2;
    }

    /// Mean seconds of `action`, repeated back to back. Each call moves a new window, so that the check at the end
    /// finds stale data.
    template <class Action> double repeated(Action action) {
        const auto next = [&] {
            advance();
            action();
        };
        if (m_is_warmed) next();
        return together([&] {
                   for (int i = 0; i < m_repeats; ++i) next();
               }) /
               m_repeats;
    }

    apps::event enqueue_send(cl_event after = nullptr) {
        cl_event sent = nullptr;
        check_transfer(clEnqueueSendBuffer(m_where.out_of_order.get(), m_source.get(), CL_FALSE, own_offset(), m_bytes,
                                           m_peer, tag, m_comm, after ? 1 : 0, after ? &after : nullptr, &sent),
                       "clEnqueueSendBuffer");
        return apps::event(sent);
    }

    apps::event enqueue_receive() {
        cl_event received = nullptr;
        check_transfer(clEnqueueRecvBuffer(m_where.out_of_order.get(), m_target.get(), CL_FALSE, 0, m_bytes, m_peer,
                                           tag, m_comm, 0, nullptr, &received),
                       "clEnqueueRecvBuffer");
        return apps::event(received);
    }

    apps::event enqueue_exchange() {
        cl_event moved = nullptr;
        check_transfer(clEnqueueSendrecvBuffer(m_where.out_of_order.get(), m_source.get(), m_target.get(), CL_FALSE,
                                               own_offset(), m_bytes, m_peer, tag, 0, m_bytes, m_peer, tag, m_comm, 0,
                                               nullptr, &moved),
                       "clEnqueueSendrecvBuffer");
        return apps::event(moved);
    }

    // By hand, as users write it.
    void send_naively() {
        read_device(queue(), m_source.get(), own_offset(), m_bytes, m_outgoing.data());
        send_host(m_outgoing.data());
    }
    void receive_naively() {
        receive_host(m_incoming.data());
        write_device(queue(), m_target.get(), 0, m_bytes, m_incoming.data());
    }
    void exchange_naively() {
        read_device(queue(), m_source.get(), own_offset(), m_bytes, m_outgoing.data());
        exchange_host(m_outgoing.data(), m_incoming.data());
        write_device(queue(), m_target.get(), 0, m_bytes, m_incoming.data());
    }

    // Raw MPI on host memory.
    void send_host(const void* from) { MPI_Send(from, int(m_bytes), MPI_BYTE, m_peer, tag, m_comm); }
    void receive_host(void* into) { MPI_Recv(into, int(m_bytes), MPI_BYTE, m_peer, tag, m_comm, MPI_STATUS_IGNORE); }
    void exchange_host(const void* from, void* into) {
        MPI_Sendrecv(from, int(m_bytes), MPI_BYTE, m_peer, tag, into, int(m_bytes), MPI_BYTE, m_peer, tag, m_comm,
                     MPI_STATUS_IGNORE);
    }

    // Plain copies, page-locked.
    void copy_out() { read_device(queue(), m_source.get(), own_offset(), m_bytes, m_pinned.data()); }
    void copy_in() { write_device(queue(), m_target.get(), 0, m_bytes, peers_data()); }

    /// Raw MPI of the same bytes. Ranks of one node whose devices have memory of their own can share page-locked
    /// memory. Then the bytes need only a notice, which counts where nothing overlaps.
    template <class Whole, class Notice> void add_messages(comparison& made, const char* how, Whole whole,
                                                           Notice notice) {
        const auto check = [this] { verify_pinned(); };
        if (m_messages_count) {
            made.add_limit("raw MPI", how, whole, check);
            return;
        }
        made.add_shown("raw MPI", how, whole, check);
        if (made.rule == limit_rule::sum) made.add_limit("notice", "MPI message of at most 8 bytes", notice);
    }

    [[nodiscard]] int notice_bytes() const { return int(std::min<std::size_t>(m_bytes, 8)); }

    session& m_session;
    const bench_device& m_where;
    MPI_Comm m_comm;
    int m_rank, m_peer;
    std::size_t m_bytes;
    test_data m_data;
    apps::buffer m_source, m_target;
    apps::pinned_memory m_pinned;
    pageable_memory m_outgoing, m_incoming;
    pageable_memory m_ordinary; // a copy of m_data, see own_data()
    int m_repeats; // of a sample, back to back
    bool m_is_warmed; // by one more before it
    bool m_copies_count; // in the limit: a device has memory of its own
    bool m_messages_count; // in the limit: the bytes have no shorter way than a message
    std::size_t m_window = 0; // of the last message from rank 0
};

} // namespace perf
