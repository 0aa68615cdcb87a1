// SPDX-License-Identifier: Apache-2.0
// Latency of an 8-byte message from device to device, beside the raw MPI message and the two small copies.
#include "perf/routes.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <stdexcept>
#include <thread>

namespace perf {

namespace {

constexpr std::size_t bytes = 8;
constexpr int tag = 1;
constexpr int in_a_row = 50; // round trips of one sample
constexpr int ahead = 4;     // of them enqueued, as a program does that hides its own time
constexpr auto idle_time = std::chrono::milliseconds(300);

/// Rank 0 sends a word from one buffer and gets it back in another; rank 1 returns what it receives.
class latency_bench {
  public:
    latency_bench(session& session, const bench_device& where)
        : m_session(session), m_where(where), m_comm(session.comm()), m_rank(session.rank()), m_peer(1 - m_rank),
          m_word(apps::create_buffer(where.context.get(), bytes)),
          m_returned(apps::create_buffer(where.context.get(), bytes)) {}

    void measure(const std::string& suffix) {
        compare("rank-latency" + suffix, [this](apps::event& last) { return from_wait_event(last); });
        compare("rank-latency-chain" + suffix, [this](apps::event& last) { return chained(last); });
        compare("rank-latency-enqueue" + suffix, [this](apps::event& last) { return from_enqueue(last); });
        compare("rank-latency-idle" + suffix, [this](apps::event& last) { return first_after_idle(last); });
    }

  private:
    template <class Ours> void compare(const std::string& route, Ours ours) {
        const auto check = [this] { verify(); };
        comparison made{route, bytes, limit_rule::sum};
        made.add_naive([this] { return by_hand(write_word); }, check);
        add_ours(made, std::vector<forced_plan>(1), ours, check);
        // Also where device memory is host memory: the design's limit is the message and the two copies.
        made.add_limit("raw MPI", "MPI_Send, MPI_Recv", [this] { return raw(); }, [this] { verify(m_seen); });
        made.add_limit(
            "copy out", "blocking read", [this] { return copy_out(); },
            [this] {
                if (m_rank == 0) verify(m_seen);
            });
        made.add_limit(
            "copy in", "blocking write", [this] { return copy_in(); },
            [this] {
                if (m_rank == 0) verify();
            });
        // Processes on one GPU take turns for a small write, but not for a rectangle of two rows.
        if (!m_where.host_memory)
            made.add_shown(
                "by hand", "blocking read, MPI_Send, MPI_Recv, blocking write of two rows",
                [this] { return by_hand(write_word_as_two_rows); }, check);
        m_session.measure(std::move(made));
    }

    /// A new word for each sample: rank 0's to send, and nothing like it where it comes back.
    void begin() {
        ++m_value;
        const std::uint64_t nothing = m_seen = ~m_value;
        write_device(m_where.in_order.get(), m_word.get(), 0, bytes, &m_value);
        write_device(m_where.in_order.get(), m_returned.get(), 0, bytes, &nothing);
        MPI_Barrier(m_comm);
    }

    void verify() {
        std::uint64_t found = 0;
        read_device(m_where.in_order.get(), m_returned.get(), 0, bytes, &found);
        verify(found);
    }
    void verify(std::uint64_t found) const {
        if (found != m_value) throw wrong_data("wrong data");
    }

    /// Rank 0's clock counts: its samples are round trips.
    double of_rank_0(double seconds) {
        apps::check(clFinish(m_where.out_of_order.get()), "clFinish"); // as in rank_pair::together()
        MPI_Bcast(&seconds, 1, MPI_DOUBLE, 0, m_comm);
        return seconds;
    }

    apps::event send(cl_command_queue queue, cl_mem buffer, cl_event after) {
        cl_event sent = nullptr;
        check_transfer(clEnqueueSendBuffer(queue, buffer, CL_FALSE, 0, bytes, m_peer, tag, m_comm, after ? 1 : 0,
                                           after ? &after : nullptr, &sent),
                       "clEnqueueSendBuffer");
        return apps::event(sent);
    }

    apps::event receive_word(cl_command_queue queue) {
        cl_event received = nullptr;
        check_transfer(clEnqueueRecvBuffer(queue, m_returned.get(), CL_FALSE, 0, bytes, m_peer, tag, m_comm, 0, nullptr,
                                           &received),
                       "clEnqueueRecvBuffer");
        return apps::event(received);
    }

    static void poll(const apps::event& transfer) {
        cl_int status = CL_QUEUED;
        for (;;) {
            apps::check(
                clGetEventInfo(transfer.get(), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr),
                "clGetEventInfo");
            if (status <= CL_COMPLETE) break;
            std::this_thread::yield();
        }
        if (status < 0) wait_for(std::array{transfer.get()});
    }

    /// A question of rank 0 and its answer, enqueued before either can start.
    struct round_trip {
        apps::event gate, sent, received;
    };
    round_trip enqueue_round_trip() {
        const auto queue = m_where.out_of_order.get();
        round_trip made;
        if (m_rank == 0) {
            made.gate = create_gate(m_where.context.get());
            made.sent = send(queue, m_word.get(), made.gate.get());
            made.received = receive_word(queue);
        } else {
            made.received = receive_word(queue);
            made.sent = send(queue, m_returned.get(), made.received.get());
        }
        return made;
    }

    /// From setting the send's wait event to reading the receive's status as complete.
    double from_wait_event(apps::event& last) {
        begin();
        std::deque<round_trip> under_way;
        for (int i = 0; i < ahead; ++i) under_way.push_back(enqueue_round_trip());
        MPI_Barrier(m_comm);
        double seconds = 0;
        for (int i = 0; i < in_a_row; ++i) {
            auto next = std::move(under_way.front());
            under_way.pop_front();
            if (m_rank == 0) {
                seconds += seconds_of([&] {
                    open_gate(next.gate);
                    poll(next.received);
                });
            }
            wait_for(std::array{next.received.get(), next.sent.get()});
            last = std::move(next.sent);
            if (i + ahead < in_a_row) under_way.push_back(enqueue_round_trip());
        }
        return of_rank_0(seconds / (2 * in_a_row));
    }

    /// Rank 1's side of what is enqueued beforehand: each answer waits for its question's event.
    apps::event answer_by_events() {
        const auto queue = m_where.out_of_order.get();
        std::vector<apps::event> transfers;
        for (int i = 0; i < in_a_row; ++i) {
            transfers.push_back(receive_word(queue));
            transfers.push_back(send(queue, m_returned.get(), transfers.back().get()));
        }
        MPI_Barrier(m_comm);
        wait_for_all(transfers);
        return std::move(transfers.back());
    }

    /// All is enqueued, and each message waits for the one before: no host is in between.
    double chained(apps::event& last) {
        begin();
        double seconds = 0;
        if (m_rank == 1) {
            last = answer_by_events();
        } else {
            const auto queue = m_where.out_of_order.get();
            const auto first = create_gate(m_where.context.get());
            std::vector<apps::event> sent, received;
            for (int i = 0; i < in_a_row; ++i) {
                sent.push_back(send(queue, m_word.get(), i == 0 ? first.get() : received.back().get()));
                received.push_back(receive_word(queue));
            }
            MPI_Barrier(m_comm);
            seconds = seconds_of([&] {
                open_gate(first);
                poll(received.back());
            });
            wait_for_all(sent);
            last = std::move(sent.back());
        }
        return of_rank_0(seconds / (2 * in_a_row));
    }

    /// The hosts enqueue a message when they have seen the one before; enqueueing counts.
    double from_enqueue(apps::event& last) {
        begin();
        const auto queue = m_where.out_of_order.get();
        const double seconds = seconds_of([&] {
            for (int i = 0; i < in_a_row; ++i) {
                if (m_rank == 0) {
                    last = send(queue, m_word.get(), nullptr);
                    poll(receive_word(queue));
                } else {
                    poll(receive_word(queue));
                    last = send(queue, m_returned.get(), nullptr);
                    poll(last);
                }
            }
        });
        wait_for(std::array{last.get()});
        return of_rank_0(seconds / (2 * in_a_row));
    }

    /// One round trip when nothing has moved for a while.
    double first_after_idle(apps::event& last) {
        begin();
        const auto queue = m_where.out_of_order.get();
        double seconds = 0;
        std::this_thread::sleep_for(idle_time);
        MPI_Barrier(m_comm);
        apps::event received;
        if (m_rank == 0) {
            seconds = seconds_of([&] {
                last = send(queue, m_word.get(), nullptr);
                received = receive_word(queue);
                poll(received);
            });
        } else {
            received = receive_word(queue);
            last = send(queue, m_returned.get(), received.get());
        }
        wait_for(std::array{received.get(), last.get()});
        return of_rank_0(seconds / 2);
    }

    static void write_word(cl_command_queue queue, cl_mem to, const std::uint64_t& word) {
        write_device(queue, to, 0, bytes, &word);
    }
    static void write_word_as_two_rows(cl_command_queue queue, cl_mem to, const std::uint64_t& word) {
        constexpr std::array<std::size_t, 3> start{}, rows{bytes / 2, 2, 1};
        apps::check(clEnqueueWriteBufferRect(queue, to, CL_TRUE, start.data(), start.data(), rows.data(), rows[0], 0,
                                             rows[0], 0, &word, 0, nullptr, nullptr),
                    "clEnqueueWriteBufferRect");
    }

    template <class Write> double by_hand(Write write) {
        begin();
        std::uint64_t word = 0;
        const auto queue = m_where.in_order.get();
        const auto give = [&](cl_mem from) {
            read_device(queue, from, 0, bytes, &word);
            MPI_Send(&word, bytes, MPI_BYTE, m_peer, tag, m_comm);
        };
        const auto take = [&] {
            MPI_Recv(&word, bytes, MPI_BYTE, m_peer, tag, m_comm, MPI_STATUS_IGNORE);
            write(queue, m_returned.get(), word);
        };
        const double seconds = seconds_of([&] {
            for (int i = 0; i < in_a_row; ++i) {
                if (m_rank == 0) {
                    give(m_word.get());
                    take();
                } else {
                    take();
                    give(m_returned.get());
                }
            }
        });
        return of_rank_0(seconds / (2 * in_a_row));
    }

    double raw() {
        begin();
        const double seconds = seconds_of([&] {
            for (int i = 0; i < in_a_row; ++i) {
                if (m_rank == 0) MPI_Send(&m_value, bytes, MPI_BYTE, m_peer, tag, m_comm);
                MPI_Recv(&m_seen, bytes, MPI_BYTE, m_peer, tag, m_comm, MPI_STATUS_IGNORE);
                if (m_rank == 1) MPI_Send(&m_seen, bytes, MPI_BYTE, m_peer, tag, m_comm);
            }
        });
        return of_rank_0(seconds / (2 * in_a_row));
    }

    /// Rank 1 waits meanwhile: a copy of one rank is not disturbed by the other's.
    double copy_out() {
        begin();
        return one_at_a_time([&] { read_device(m_where.in_order.get(), m_word.get(), 0, bytes, &m_seen); });
    }

    double copy_in() {
        begin();
        return one_at_a_time([&] { write_device(m_where.in_order.get(), m_returned.get(), 0, bytes, &m_value); });
    }

    template <class Action> double one_at_a_time(Action action) {
        MPI_Barrier(m_comm);
        double seconds = 0;
        if (m_rank == 0)
            seconds = seconds_of([&] {
                for (int i = 0; i < in_a_row; ++i) action();
            });
        return of_rank_0(seconds / in_a_row);
    }

    session& m_session;
    const bench_device& m_where;
    MPI_Comm m_comm;
    int m_rank, m_peer;
    apps::buffer m_word, m_returned;
    std::uint64_t m_value = 0;
    std::uint64_t m_seen = 0; // what a limit has moved to the host
};

} // namespace

void rank_latency_routes(session& session, const bench_device& where, const std::string& suffix) {
    if (std::ranges::find(session.wanted().sizes, bytes) == session.wanted().sizes.end()) return;
    latency_bench(session, where).measure(suffix);
}

} // namespace perf
