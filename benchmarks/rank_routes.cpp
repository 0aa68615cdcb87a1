// SPDX-License-Identifier: Apache-2.0
// Device to device between two ranks, beside the copies and the raw MPI message of the same bytes.
#include "setup.hpp"

#include <array>
#include <memory>

namespace benchmarks {

namespace {

constexpr int tag = 1;
/// Below this a message is one block: copies and message follow one another. From here on they can overlap.
constexpr std::size_t overlapping = mib;

/// Two ranks that do the same comparisons in the same order. Rank 0 sends first.
class rank_bench {
  public:
    rank_bench(const place& where, const settings& wanted, std::size_t bytes, MPI_Comm comm)
        : m_place(where), m_settings(wanted), m_comm(comm), m_bytes(bytes), m_data(where, bytes),
          m_source(m_data.on_device(where)), m_target(apps::create_buffer(where.context.get(), bytes)),
          m_pinned(where.context.get(), where.in_order.get(), bytes), m_outgoing(bytes), m_incoming(bytes) {
        MPI_Comm_rank(comm, &m_rank);
        m_peer = 1 - m_rank;
        // A sample of small messages is many of them.
        m_repeats = bytes < 64 * kib ? 100 : bytes < mib ? 20 : 1;
    }

    comparison one_way() {
        comparison made{"device -> device", m_bytes, rule(), {}};
        made.ways.push_back({"naive: read, send; receive, write", role::naive,
                             [this] {
                                 return there_and_back([this] { send_naively(); }, [this] { receive_naively(); });
                             },
                             [this] { verify_target(); }});
        for (const auto block : m_settings.blocks)
            made.ways.push_back(ours([this](std::string& plan) { return by_events(plan); }, block));
        made.ways.push_back({"copies out and in", copies_role(), [this] { return copies_one_way(); },
                             [this] { verify_target(); }});
        made.ways.push_back({"raw MPI", role::limit,
                             [this] {
                                 return there_and_back([this] { send_host(); }, [this] { receive_host(); });
                             },
                             [this] { verify_host(); }});
        return made;
    }

    comparison both_ways() {
        comparison made{"device <-> device", m_bytes, rule(), {}};
        made.ways.push_back({"naive: read, sendrecv, write", role::naive,
                             [this] { return repeated([this] { exchange_naively(); }); }, [this] { verify_target(); }});
        for (const auto block : m_settings.blocks)
            made.ways.push_back(ours(
                [this](std::string& plan) { return repeated([&] { exchange(plan); }); }, block));
        made.ways.push_back({"copies out and in", copies_role(),
                             [this] { return repeated([this] { copy_both_ways(); }); }, [this] { verify_target(); }});
        made.ways.push_back({"raw MPI", role::limit, [this] { return repeated([this] { exchange_host(); }); },
                             [this] { verify_host(); }});
        return made;
    }

  private:
    [[nodiscard]] limit_rule rule() const { return m_bytes < overlapping ? limit_rule::sum : limit_rule::slowest; }
    [[nodiscard]] role copies_role() const { return m_place.host_memory ? role::shown : role::limit; }
    [[nodiscard]] cl_command_queue queue() const { return m_place.in_order.get(); }

    /// Both ranks move the same window; rank 1's data lies one further, so that no rank finds its own bytes right.
    [[nodiscard]] std::size_t window_of(int rank) const { return m_window + std::size_t(rank); }
    [[nodiscard]] std::size_t own_offset() const { return test_data::offset_of(window_of(m_rank)); }

    void verify_target() {
        read_device(queue(), m_target.get(), 0, m_bytes, m_pinned.data());
        m_data.verify(m_pinned.data(), window_of(m_peer));
    }
    void verify_host() { m_data.verify(m_pinned.data(), window_of(m_peer)); }

    /// The slower rank's seconds for `action` between two barriers.
    template <class Action>
    double together(Action action) {
        MPI_Barrier(m_comm);
        double seconds = seconds_of(action);
        MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, m_comm);
        return seconds;
    }

    /// Seconds of one way of a message that goes from rank 0 to rank 1 and another that comes back.
    template <class Send, class Receive>
    double there_and_back(Send send, Receive receive) {
        m_window += 2;
        return together([&] {
                   for (int i = 0; i < m_repeats; ++i) {
                       if (m_rank == 0) {
                           send();
                           receive();
                       } else {
                           receive();
                           send();
                       }
                   }
               }) /
               (2 * m_repeats);
    }

    template <class Action>
    double repeated(Action action) {
        m_window += 2;
        return together([&] {
                   for (int i = 0; i < m_repeats; ++i) action();
               }) /
               m_repeats;
    }

    way ours(std::function<double(std::string&)> run, std::size_t block) {
        const auto plan = std::make_shared<std::string>();
        return {name_with_block("causeway", block), role::ours,
                [run = std::move(run), block, plan] {
                    const forced_block forced(block);
                    return run(*plan);
                },
                [this] { verify_target(); }, [plan] { return *plan; }};
    }

    /// Rank 1's answer waits for the question's event: neither host is between them.
    double by_events(std::string& plan) {
        m_window += 2;
        apps::event last_send;
        const double seconds = together([&] {
            for (int i = 0; i < m_repeats; ++i) {
                apps::event received;
                if (m_rank == 0) {
                    last_send = enqueue_send(nullptr);
                    received = enqueue_receive();
                } else {
                    received = enqueue_receive();
                    last_send = enqueue_send(received.get());
                }
                wait_for(std::array{last_send.get(), received.get()});
            }
        });
        plan = plan_of(last_send.get());
        return seconds / (2 * m_repeats);
    }

    apps::event enqueue_send(cl_event after) {
        cl_event sent = nullptr;
        check_transfer(clEnqueueSendBuffer(m_place.out_of_order.get(), m_source.get(), CL_FALSE, own_offset(), m_bytes,
                                           m_peer, tag, m_comm, after ? 1 : 0, after ? &after : nullptr, &sent),
                       "clEnqueueSendBuffer");
        return apps::event(sent);
    }

    apps::event enqueue_receive() {
        cl_event received = nullptr;
        check_transfer(clEnqueueRecvBuffer(m_place.out_of_order.get(), m_target.get(), CL_FALSE, 0, m_bytes, m_peer,
                                           tag, m_comm, 0, nullptr, &received),
                       "clEnqueueRecvBuffer");
        return apps::event(received);
    }

    void exchange(std::string& plan) {
        cl_event moved = nullptr;
        const auto code = clEnqueueSendrecvBuffer(queue(), m_source.get(), m_target.get(), CL_TRUE, own_offset(),
                                                  m_bytes, m_peer, tag, 0, m_bytes, m_peer, tag, m_comm, 0, nullptr,
                                                  &moved);
        const apps::event event(moved);
        check_transfer(code, "clEnqueueSendrecvBuffer");
        if (plan.empty()) plan = plan_of(moved);
    }

    void send_naively() {
        read_device(queue(), m_source.get(), own_offset(), m_bytes, m_outgoing.data());
        MPI_Send(m_outgoing.data(), int(m_bytes), MPI_BYTE, m_peer, tag, m_comm);
    }

    void receive_naively() {
        MPI_Recv(m_incoming.data(), int(m_bytes), MPI_BYTE, m_peer, tag, m_comm, MPI_STATUS_IGNORE);
        write_device(queue(), m_target.get(), 0, m_bytes, m_incoming.data());
    }

    void exchange_naively() {
        read_device(queue(), m_source.get(), own_offset(), m_bytes, m_outgoing.data());
        MPI_Sendrecv(m_outgoing.data(), int(m_bytes), MPI_BYTE, m_peer, tag, m_incoming.data(), int(m_bytes), MPI_BYTE,
                     m_peer, tag, m_comm, MPI_STATUS_IGNORE);
        write_device(queue(), m_target.get(), 0, m_bytes, m_incoming.data());
    }

    void send_host() {
        MPI_Send(m_data.at(window_of(m_rank)), int(m_bytes), MPI_BYTE, m_peer, tag, m_comm);
    }

    void receive_host() {
        MPI_Recv(m_pinned.data(), int(m_bytes), MPI_BYTE, m_peer, tag, m_comm, MPI_STATUS_IGNORE);
    }

    void exchange_host() {
        MPI_Sendrecv(m_data.at(window_of(m_rank)), int(m_bytes), MPI_BYTE, m_peer, tag, m_pinned.data(),
                     int(m_bytes), MPI_BYTE, m_peer, tag, m_comm, MPI_STATUS_IGNORE);
    }

    void copy_out() { read_device(queue(), m_source.get(), own_offset(), m_bytes, m_pinned.data()); }
    void copy_in() { write_device(queue(), m_target.get(), 0, m_bytes, m_data.at(window_of(m_peer))); }

    /// Large: out of one device while into the other. Small: out and in, one after the other.
    double copies_one_way() {
        if (m_bytes < overlapping)
            return repeated([this] {
                copy_out();
                copy_in();
            });
        m_window += 2;
        double seconds = 0;
        for (const int sender : {0, 1})
            seconds += together([&] { m_rank == sender ? copy_out() : copy_in(); });
        return seconds / 2;
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
        const auto other = m_place.other_way.get();
        apps::check(clEnqueueWriteBuffer(other, m_target.get(), CL_FALSE, 0, m_bytes, m_data.at(window_of(m_peer)), 0,
                                         nullptr, &in),
                    "clEnqueueWriteBuffer");
        const apps::event writing(in);
        apps::check(clFlush(queue()), "clFlush");
        apps::check(clFlush(other), "clFlush");
        wait_for(std::array{out, in});
    }

    const place& m_place;
    const settings& m_settings;
    MPI_Comm m_comm;
    int m_rank = 0, m_peer = 1, m_repeats = 1;
    std::size_t m_bytes;
    test_data m_data;
    apps::buffer m_source, m_target;
    apps::pinned_memory m_pinned;
    pageable_memory m_outgoing, m_incoming;
    std::size_t m_window = 0; // of the last message from rank 0
};

} // namespace

std::vector<line> rank_routes(const place& where, const settings& wanted, MPI_Comm comm) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    auto sizes = wanted.sizes;
    if (sizes.empty()) sizes = {8, 64 * kib, mib, 16 * mib, 256 * mib};
    std::vector<line> all;
    for (const auto bytes : sizes) {
        rank_bench bench(where, wanted, bytes, comm);
        for (const auto& compared : {bench.one_way(), bench.both_ways()}) {
            const auto lines = measure(compared, wanted.rounds_for(bytes));
            if (rank == 0) print(lines, all.empty() ? heading::yes : heading::no);
            all.insert(all.end(), lines.begin(), lines.end());
        }
    }
    return all;
}

} // namespace benchmarks
