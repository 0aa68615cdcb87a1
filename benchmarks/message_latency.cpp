// SPDX-License-Identifier: Apache-2.0
// Latency of an 8-byte message from device to device, beside the raw MPI message and the two small copies.
#include "setup.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <thread>

namespace benchmarks {

namespace {

constexpr std::size_t bytes = 8;
constexpr int tag = 1;
constexpr int in_a_row = 50; // round trips of one sample
constexpr auto idle_time = std::chrono::milliseconds(300);

/// Rank 0 sends a word from one buffer and gets it back in another; rank 1 returns what it receives.
class latency_bench {
  public:
    latency_bench(const place& where, MPI_Comm comm)
        : m_place(where), m_comm(comm), m_word(apps::create_buffer(where.context.get(), bytes)),
          m_returned(apps::create_buffer(where.context.get(), bytes)) {
        MPI_Comm_rank(comm, &m_rank);
        m_peer = 1 - m_rank;
    }

    comparison back_to_back() {
        const auto check = [this] { verify(); };
        comparison made{"8-byte message", bytes, limit_rule::sum, {}};
        made.ways = {
            {"naive: read, send; receive, write", role::naive, [this] { return naive(); }, check},
            {"causeway, from wait event", role::ours, [this] { return from_wait_event(); }, check},
            {"causeway, chain of events", role::ours, [this] { return chained(); }, check},
            {"causeway, from enqueue", role::ours, [this] { return from_enqueue(m_place.out_of_order.get()); }, check},
            {"causeway, in-order queue", role::ours, [this] { return from_enqueue(m_place.in_order.get()); }, check},
            {"raw MPI", role::limit, [this] { return raw(); }},
            {"copy out", role::limit, [this] { return copy_out(); }},
            {"copy in", role::limit, [this] { return copy_in(); }},
        };
        return made;
    }

    comparison after_idle() {
        const auto check = [this] { verify(); };
        comparison made{"8-byte message, first", bytes, limit_rule::sum, {}};
        made.ways = {
            {"causeway, 300 ms idle", role::ours, [this] { return first_after_idle(receive::late); }, check},
            {"causeway, 300 ms receiving", role::ours, [this] { return first_after_idle(receive::before); }, check},
            {"raw MPI", role::limit, [this] { return raw(); }},
            {"copy out", role::limit, [this] { return copy_out(); }},
            {"copy in", role::limit, [this] { return copy_in(); }},
        };
        return made;
    }

  private:
    enum class receive { late, before };

    /// A new word for each sample: rank 0's to send, and nothing like it where it comes back.
    void begin() {
        ++m_value;
        const std::uint64_t nothing = ~m_value;
        write_device(m_place.in_order.get(), m_word.get(), 0, bytes, &m_value);
        write_device(m_place.in_order.get(), m_returned.get(), 0, bytes, &nothing);
        MPI_Barrier(m_comm);
    }

    void verify() {
        std::uint64_t found = 0;
        read_device(m_place.in_order.get(), m_returned.get(), 0, bytes, &found);
        if (found != m_value) throw std::runtime_error("wrong data");
    }

    /// Rank 0's clock counts: its samples are round trips.
    double of_rank_0(double seconds) {
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
            apps::check(clGetEventInfo(transfer.get(), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status,
                                       nullptr),
                        "clGetEventInfo");
            if (status <= CL_COMPLETE) break;
            std::this_thread::yield();
        }
        if (status < 0) wait_for(std::array{transfer.get()});
    }

    static void wait_for_all(const std::vector<apps::event>& transfers) {
        std::vector<cl_event> events;
        for (const auto& each : transfers) events.push_back(each.get());
        wait_for(events);
    }

    apps::event gate() {
        cl_int code = CL_SUCCESS;
        apps::event made(clCreateUserEvent(m_place.context.get(), &code));
        apps::check(code, "clCreateUserEvent");
        return made;
    }

    /// Rank 1's side of what is enqueued beforehand: each answer waits for its question's event.
    void answer_by_events() {
        const auto queue = m_place.out_of_order.get();
        std::vector<apps::event> transfers;
        for (int i = 0; i < in_a_row; ++i) {
            transfers.push_back(receive_word(queue));
            transfers.push_back(send(queue, m_returned.get(), transfers.back().get()));
        }
        MPI_Barrier(m_comm);
        wait_for_all(transfers);
    }

    /// All is enqueued. From setting the send's wait event to reading the receive's status as complete.
    double from_wait_event() {
        begin();
        double seconds = 0;
        if (m_rank == 1) {
            answer_by_events();
        } else {
            const auto queue = m_place.out_of_order.get();
            std::vector<apps::event> gates, sent, received;
            for (int i = 0; i < in_a_row; ++i) {
                gates.push_back(gate());
                sent.push_back(send(queue, m_word.get(), gates.back().get()));
                received.push_back(receive_word(queue));
            }
            MPI_Barrier(m_comm);
            seconds = seconds_of([&] {
                for (int i = 0; i < in_a_row; ++i) {
                    apps::check(clSetUserEventStatus(gates[i].get(), CL_COMPLETE), "clSetUserEventStatus");
                    poll(received[i]);
                }
            });
            wait_for_all(sent);
        }
        return of_rank_0(seconds / (2 * in_a_row));
    }

    /// All is enqueued, and each message waits for the one before: no host is in between.
    double chained() {
        begin();
        double seconds = 0;
        if (m_rank == 1) {
            answer_by_events();
        } else {
            const auto queue = m_place.out_of_order.get();
            const auto first = gate();
            std::vector<apps::event> sent, received;
            for (int i = 0; i < in_a_row; ++i) {
                sent.push_back(send(queue, m_word.get(), i == 0 ? first.get() : received.back().get()));
                received.push_back(receive_word(queue));
            }
            MPI_Barrier(m_comm);
            seconds = seconds_of([&] {
                apps::check(clSetUserEventStatus(first.get(), CL_COMPLETE), "clSetUserEventStatus");
                poll(received.back());
            });
            wait_for_all(sent);
        }
        return of_rank_0(seconds / (2 * in_a_row));
    }

    /// The hosts enqueue a message when they have seen the one before; enqueueing counts.
    double from_enqueue(cl_command_queue queue) {
        begin();
        const double seconds = seconds_of([&] {
            for (int i = 0; i < in_a_row; ++i) {
                if (m_rank == 0) {
                    const auto sent = send(queue, m_word.get(), nullptr);
                    poll(receive_word(queue));
                } else {
                    poll(receive_word(queue));
                    poll(send(queue, m_returned.get(), nullptr));
                }
            }
        });
        apps::check(clFinish(queue), "clFinish");
        return of_rank_0(seconds / (2 * in_a_row));
    }

    /// One round trip when nothing has moved for a while; rank 1 posts its receive before that time or after it.
    double first_after_idle(receive when) {
        begin();
        const auto queue = m_place.out_of_order.get();
        double seconds = 0;
        std::vector<apps::event> transfers;
        const auto answer = [&] {
            transfers.push_back(receive_word(queue));
            transfers.push_back(send(queue, m_returned.get(), transfers.back().get()));
        };
        if (m_rank == 1 && when == receive::before) answer();
        std::this_thread::sleep_for(idle_time);
        MPI_Barrier(m_comm);
        if (m_rank == 0) {
            seconds = seconds_of([&] {
                transfers.push_back(send(queue, m_word.get(), nullptr));
                transfers.push_back(receive_word(queue));
                poll(transfers.back());
            });
        } else if (when == receive::late) {
            answer();
        }
        wait_for_all(transfers);
        return of_rank_0(seconds / 2);
    }

    double naive() {
        begin();
        std::uint64_t word = 0;
        const auto queue = m_place.in_order.get();
        const auto give = [&](cl_mem from) {
            read_device(queue, from, 0, bytes, &word);
            MPI_Send(&word, bytes, MPI_BYTE, m_peer, tag, m_comm);
        };
        const auto take = [&] {
            MPI_Recv(&word, bytes, MPI_BYTE, m_peer, tag, m_comm, MPI_STATUS_IGNORE);
            write_device(queue, m_returned.get(), 0, bytes, &word);
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
        MPI_Barrier(m_comm);
        std::uint64_t word = m_value;
        const double seconds = seconds_of([&] {
            for (int i = 0; i < in_a_row; ++i) {
                if (m_rank == 0) MPI_Send(&word, bytes, MPI_BYTE, m_peer, tag, m_comm);
                MPI_Recv(&word, bytes, MPI_BYTE, m_peer, tag, m_comm, MPI_STATUS_IGNORE);
                if (m_rank == 1) MPI_Send(&word, bytes, MPI_BYTE, m_peer, tag, m_comm);
            }
        });
        return of_rank_0(seconds / (2 * in_a_row));
    }

    /// Rank 1 waits meanwhile: a copy of one rank is not disturbed by the other's.
    double copy_out() {
        std::uint64_t word = 0;
        return one_at_a_time([&] { read_device(m_place.in_order.get(), m_word.get(), 0, bytes, &word); });
    }

    double copy_in() {
        const std::uint64_t word = m_value;
        return one_at_a_time([&] { write_device(m_place.in_order.get(), m_returned.get(), 0, bytes, &word); });
    }

    template <class Action>
    double one_at_a_time(Action action) {
        MPI_Barrier(m_comm);
        double seconds = 0;
        if (m_rank == 0)
            seconds = seconds_of([&] {
                for (int i = 0; i < in_a_row; ++i) action();
            });
        return of_rank_0(seconds / in_a_row);
    }

    const place& m_place;
    MPI_Comm m_comm;
    int m_rank = 0, m_peer = 1;
    apps::buffer m_word, m_returned;
    std::uint64_t m_value = 0;
};

} // namespace

std::vector<line> message_latency(const place& where, const settings& wanted, MPI_Comm comm) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    latency_bench bench(where, comm);
    std::vector<line> all;
    const auto add = [&](const comparison& compared, int rounds) {
        const auto lines = measure(compared, rounds);
        if (rank == 0) print(lines, all.empty() ? heading::yes : heading::no);
        all.insert(all.end(), lines.begin(), lines.end());
    };
    add(bench.back_to_back(), 5 * wanted.rounds);
    add(bench.after_idle(), wanted.rounds);
    return all;
}

} // namespace benchmarks
