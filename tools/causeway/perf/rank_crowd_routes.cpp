// SPDX-License-Identifier: Apache-2.0
// Many transfers from one rank to the other under way at once: small messages, and 64 of any size.
#include "perf/rank_pair.hpp"
#include "perf/routes.hpp"

namespace perf {

namespace {

constexpr std::size_t largest_small = 4 * kib;
constexpr std::size_t least_of_64 = 64 * kib, most_of_64 = 16 * mib, quick_most_of_64 = mib;

/// A pair whose data is that of all `count` transfers; each moves `piece` bytes of it.
class crowd_bench : public rank_pair {
  public:
    crowd_bench(session& session, const bench_device& where, std::size_t piece, int count)
        : rank_pair(session, where, piece * std::size_t(count)), m_piece(piece), m_count(count),
          m_requests(std::size_t(count)) {}

    void measure(const std::string& route) {
        const auto check = [this] {
            if (m_rank == 1) verify_target();
        };
        // Many are under way, so the stages of different ones overlap whatever their size.
        comparison made{route, m_piece, limit_rule::slowest};
        made.add_naive([this] { return of_one([this] { naively(); }); }, check);
        add_ours(
            made, m_session.plans(m_piece), [this](apps::event& moved) { return of_one([&] { all_at_once(moved); }); },
            check);
        if (m_copies_count)
            made.add_limit(
                "copies", "out of one and into the other at once, all enqueued",
                [this] { return of_one([this] { copy_all(); }); }, check);
        const auto raw = [this] { return of_one([this] { all_raw(); }); };
        const auto raw_check = [this] {
            if (m_rank == 1) verify_pinned();
        };
        constexpr const char* how = "MPI_Isend, MPI_Irecv of all, MPI_Waitall";
        // A small message is its own notice.
        if (m_messages_count || m_piece <= largest_small) {
            made.add_limit("raw MPI", how, raw, raw_check);
        } else {
            made.add_shown("raw MPI", how, raw, raw_check);
        }
        m_session.measure(std::move(made));
    }

  private:
    template <class Action> double of_one(Action action) {
        advance();
        return together(action) / m_count;
    }

    [[nodiscard]] std::size_t at(int index) const { return std::size_t(index) * m_piece; }

    void all_at_once(apps::event& last) {
        std::vector<apps::event> events;
        const auto queue = m_where.out_of_order.get();
        for (int i = 0; i < m_count; ++i) {
            cl_event moved = nullptr;
            check_transfer(m_rank == 0 ? clEnqueueSendBuffer(queue, m_source.get(), CL_FALSE, own_offset() + at(i),
                                                             m_piece, m_peer, tag, m_comm, 0, nullptr, &moved)
                                       : clEnqueueRecvBuffer(queue, m_target.get(), CL_FALSE, at(i), m_piece, m_peer,
                                                             tag, m_comm, 0, nullptr, &moved),
                           "enqueueing a message");
            events.emplace_back(moved);
        }
        wait_for_all(events);
        last = std::move(events.back());
    }

    void naively() {
        auto* const memory = m_incoming.data();
        for (int i = 0; i < m_count; ++i) {
            if (m_rank == 0) {
                read_device(queue(), m_source.get(), own_offset() + at(i), m_piece, memory);
                MPI_Send(memory, int(m_piece), MPI_BYTE, m_peer, tag, m_comm);
            } else {
                MPI_Recv(memory, int(m_piece), MPI_BYTE, m_peer, tag, m_comm, MPI_STATUS_IGNORE);
                write_device(queue(), m_target.get(), at(i), m_piece, memory);
            }
        }
    }

    void all_raw() {
        for (int i = 0; i < m_count; ++i) {
            auto& request = m_requests[std::size_t(i)];
            if (m_rank == 0) {
                MPI_Isend(own_data() + at(i), int(m_piece), MPI_BYTE, m_peer, tag, m_comm, &request);
            } else {
                MPI_Irecv(static_cast<std::byte*>(m_pinned.data()) + at(i), int(m_piece), MPI_BYTE, m_peer, tag, m_comm,
                          &request);
            }
        }
        MPI_Waitall(m_count, m_requests.data(), MPI_STATUSES_IGNORE);
    }

    void copy_all() {
        for (int i = 0; i < m_count; ++i) {
            auto* const into = static_cast<std::byte*>(m_pinned.data()) + at(i);
            apps::check(m_rank == 0 ? clEnqueueReadBuffer(queue(), m_source.get(), CL_FALSE, own_offset() + at(i),
                                                          m_piece, into, 0, nullptr, nullptr)
                                    : clEnqueueWriteBuffer(queue(), m_target.get(), CL_FALSE, at(i), m_piece,
                                                           peers_data() + at(i), 0, nullptr, nullptr),
                        "enqueueing a copy");
        }
        apps::check(clFinish(queue()), "clFinish");
    }

    std::size_t m_piece;
    int m_count;
    std::vector<MPI_Request> m_requests;
};

void run(session& session, const bench_device& where, const std::string& route, int count, std::size_t least,
         std::size_t most) {
    if (!session.wants(route)) return;
    for (const auto bytes : session.sizes(where.device, rank_pair::copies_held, least, most, std::size_t(count)))
        crowd_bench(session, where, bytes, count).measure(route);
}

} // namespace

void rank_crowd_routes(session& session, const bench_device& where, const std::string& suffix) {
    run(session, where, "rank-many-small" + suffix, 256, 1, largest_small);
    run(session, where, "rank-64-at-once" + suffix, 64, least_of_64,
        session.wanted().quick ? quick_most_of_64 : most_of_64);
}

} // namespace perf
