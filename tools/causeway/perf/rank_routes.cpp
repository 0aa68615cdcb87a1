// SPDX-License-Identifier: Apache-2.0
// Device to device between two ranks, beside the copies and the raw MPI message of the same bytes.
#include "perf/event_order.hpp"
#include "perf/linked_pair.hpp"
#include "perf/routes.hpp"

#include <array>
#include <memory>
#include <string>

namespace perf {

namespace {

class rank_bench : public linked_pair {
  public:
    using linked_pair::linked_pair;

    /// Rank 1's answer waits for the question's event: neither host is between them.
    void one_way(const std::string& route) {
        there_and_back_of(route, [this](apps::event& moved) { return by_events(moved); });
    }

    /// One call stands for each copy and its message by hand.
    void by_blocking_calls(const std::string& route) {
        there_and_back_of(route, [this](apps::event& moved) { return by_calls(moved); });
    }

    void both_ways(const std::string& route) {
        if (!m_session.wants(route)) return;
        const auto check = [this] { verify_target(); };
        comparison made{route, m_bytes, rule_for(m_bytes)};
        made.add_naive([this] { return repeated([this] { exchange_naively(); }); }, check);
        add_ours(
            made, m_session.plans(m_bytes),
            [this](apps::event& moved) {
                return repeated([&] {
                    moved = enqueue_exchange();
                    wait_for(std::array{moved.get()});
                });
            },
            check);
        if (m_copies_count)
            made.add_limit(
                "copies", m_bytes < overlapping ? "out, then in, of both" : "out and in, of both, all at once",
                [this] { return repeated([this] { copy_both_ways(); }); }, check);
        if (m_has_link)
            made.add_limit("copies", "CUDA's copies " + m_way + ", both ways at once", [this] {
                return repeated([this] {
                    if (m_link) m_link->copy_both_ways();
                });
            });
        add_messages(
            made, "MPI_Sendrecv on host memory",
            [this] { return repeated([this] { exchange_host(own_data(), m_pinned.data()); }); },
            [this] {
                return repeated([this] {
                    MPI_Sendrecv(own_data(), notice_bytes(), MPI_BYTE, m_peer, tag, m_pinned.data(), notice_bytes(),
                                 MPI_BYTE, m_peer, tag, m_comm, MPI_STATUS_IGNORE);
                });
            });
        add_order(made);
        m_session.measure(std::move(made));
    }

  private:
    /// `ours` gives the seconds of one way by the library.
    template <class Ours> void there_and_back_of(const std::string& route, Ours ours) {
        if (!m_session.wants(route)) return;
        const auto check = [this] { verify_target(); };
        comparison made{route, m_bytes, rule_for(m_bytes)};
        made.add_naive([this] { return there_and_back([this] { send_naively(); }, [this] { receive_naively(); }); },
                       check);
        add_ours(made, m_session.plans(m_bytes), ours, check);
        if (m_copies_count)
            made.add_limit(
                "copies", m_bytes < overlapping ? "out, then in" : "out of one and into the other at once",
                [this] { return copies_one_way(); }, check);
        if (m_has_link)
            made.add_limit("copies", "CUDA's copy " + m_way, [this] {
                return repeated([this] {
                    if (m_link) m_link->copy();
                });
            });
        add_messages(
            made, "MPI_Send, MPI_Recv on host memory",
            [this] {
                return there_and_back([this] { send_host(own_data()); }, [this] { receive_host(m_pinned.data()); });
            },
            [this] {
                return there_and_back([this] { MPI_Send(own_data(), notice_bytes(), MPI_BYTE, m_peer, tag, m_comm); },
                                      [this] {
                                          MPI_Recv(m_pinned.data(), notice_bytes(), MPI_BYTE, m_peer, tag, m_comm,
                                                   MPI_STATUS_IGNORE);
                                      });
            });
        add_order(made);
        m_session.measure(std::move(made));
    }

    /// Beside small messages: as much is not their bytes'.
    void add_order(comparison& made) {
        if (m_bytes >= overlapping && (m_copies_count || m_bytes > largest_shown_with_order)) return;
        made.add_shown("order", event_order::how, [this] {
            MPI_Barrier(m_comm);
            double seconds = event_order(m_where).seconds(m_repeats);
            apps::check(clFinish(m_where.out_of_order.get()), "clFinish"); // as in together()
            MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, m_comm);
            return seconds;
        });
        if (m_copies_count) return;
        const auto engine = std::make_shared<sleeping_thread>();
        made.add_shown("wake", sleeping_thread::how, [this, engine] {
            MPI_Barrier(m_comm);
            double seconds = engine->seconds_of_wake();
            MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, m_comm);
            return seconds;
        });
    }

    double by_events(apps::event& last_send) {
        return repeated([&] {
                   apps::event received;
                   if (m_rank == 0) {
                       last_send = enqueue_send();
                       received = enqueue_receive();
                   } else {
                       received = enqueue_receive();
                       last_send = enqueue_send(received.get());
                   }
                   wait_for(std::array{last_send.get(), received.get()});
               }) /
               2;
    }

    double by_calls(apps::event& last_send) {
        int left = m_repeats + (m_is_warmed ? 1 : 0);
        return there_and_back(
            [&] {
                cl_event sent = nullptr;
                check_transfer(clEnqueueSendBuffer(queue(), m_source.get(), CL_TRUE, own_offset(), m_bytes, m_peer, tag,
                                                   m_comm, 0, nullptr, --left == 0 ? &sent : nullptr),
                               "clEnqueueSendBuffer");
                if (sent != nullptr) last_send = apps::event(sent);
            },
            [&] {
                check_transfer(clEnqueueRecvBuffer(queue(), m_target.get(), CL_TRUE, 0, m_bytes, m_peer, tag, m_comm, 0,
                                                   nullptr, nullptr),
                               "clEnqueueRecvBuffer");
            });
    }

    /// Large: out of one device while into the other. Small: out and in, one after the other.
    double copies_one_way() {
        if (m_bytes < overlapping)
            return repeated([this] {
                copy_out();
                copy_in();
            });
        double seconds = 0;
        const auto first = m_window;
        for (const int sender : {0, 1}) {
            m_window = first; // so that both directions end with the same one
            const auto copy = [&] {
                advance();
                m_rank == sender ? copy_out() : copy_in();
            };
            if (m_is_warmed) copy();
            seconds += together([&] {
                for (int i = 0; i < m_repeats; ++i) copy();
            });
        }
        return seconds / (2 * m_repeats);
    }

    void copy_both_ways() {
        if (m_bytes < overlapping) {
            copy_out();
            copy_in();
            return;
        }
        cl_event out = nullptr, in = nullptr;
        apps::check(clEnqueueReadBuffer(queue(), m_source.get(), CL_FALSE, own_offset(), m_bytes, m_pinned.data(), 0,
                                        nullptr, &out),
                    "clEnqueueReadBuffer");
        const apps::event reading(out);
        const auto other = m_where.other_way.get();
        apps::check(clEnqueueWriteBuffer(other, m_target.get(), CL_FALSE, 0, m_bytes, peers_data(), 0, nullptr, &in),
                    "clEnqueueWriteBuffer");
        const apps::event writing(in);
        apps::check(clFlush(queue()), "clFlush");
        apps::check(clFlush(other), "clFlush");
        wait_for(std::array{out, in});
    }
};

} // namespace

void rank_routes(session& session, const bench_device& where, const std::string& suffix) {
    const std::string routes[] = {"rank-blocking" + suffix, "rank-one-way" + suffix, "rank-both-ways" + suffix};
    if (std::none_of(std::begin(routes), std::end(routes), [&](const auto& each) { return session.wants(each); }))
        return;
    bool in_vain = false;
    for (const auto bytes : session.sizes(where.device, rank_pair::copies_held)) {
        rank_bench bench(session, where, bytes, in_vain);
        bench.by_blocking_calls(routes[0]);
        bench.one_way(routes[1]);
        bench.both_ways(routes[2]);
    }
}

} // namespace perf
