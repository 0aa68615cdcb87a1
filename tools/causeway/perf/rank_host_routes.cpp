// SPDX-License-Identifier: Apache-2.0
// Host memory of one rank and the device of the other: MPI's own calls with MPI_CL_MEM on the host's side.
#include "perf/rank_pair.hpp"
#include "perf/routes.hpp"

#include <array>

namespace perf {

namespace {

void check_mpi(int code, const char* call) {
    if (code != MPI_SUCCESS) throw std::runtime_error(std::string(call) + ": MPI code " + std::to_string(code));
}

class host_bench : public rank_pair {
  public:
    using rank_pair::rank_pair;

    void to_device() {
        measure(
            "rank-host-to-device", [this] { send_host(own_data()); }, [this] { receive_naively(); },
            [this](apps::event&) {
                check_mpi(causeway_mpi_send(own_data(), int(m_bytes), MPI_CL_MEM, m_peer, tag, m_comm), "MPI_Send");
            },
            [this](apps::event& moved) {
                moved = enqueue_receive();
                wait_for(std::array{moved.get()});
            },
            [this] { verify_target(); }, [this] { copy_in(); }, [this] { verify_target(); },
            "host to device, page-locked");
    }

    void to_host() {
        measure(
            "rank-device-to-host", [this] { send_naively(); }, [this] { receive_host(m_incoming.data()); },
            [this](apps::event& moved) {
                moved = enqueue_send();
                wait_for(std::array{moved.get()});
            },
            [this](apps::event&) {
                check_mpi(causeway_mpi_recv(m_incoming.data(), int(m_bytes), MPI_CL_MEM, m_peer, tag, m_comm,
                                            MPI_STATUS_IGNORE),
                          "MPI_Recv");
            },
            [this] { verify_incoming(); }, [this] { copy_out(); },
            [this] { m_data.verify(m_pinned.data(), window_of(m_rank)); }, "device to host, page-locked");
    }

  private:
    /// Each rank sends once and receives once in each turn, so each has one transfer whose plan it knows.
    template <class NaiveSend, class NaiveReceive, class Send, class Receive, class Check, class Copy, class CopyCheck>
    void measure(const std::string& route, NaiveSend naive_send, NaiveReceive naive_receive, Send send, Receive receive,
                 Check check, Copy copy, CopyCheck copy_check, const char* copy_text) {
        if (!m_session.wants(route)) return;
        comparison made{route, m_bytes, rule_for(m_bytes)};
        made.ways.push_back(
            {"naive", role::naive, [=, this] { return there_and_back(naive_send, naive_receive); }, check});
        add_ours(
            made, m_session.plans(m_bytes),
            [=, this](apps::event& moved) { return there_and_back([&] { send(moved); }, [&] { receive(moved); }); },
            check);
        if (m_copies_count) made.add_limit("copy", copy_text, [=, this] { return repeated(copy); }, copy_check);
        made.add_limit(
            "raw MPI", "MPI_Send, MPI_Recv on host memory",
            [this] {
                return there_and_back([this] { send_host(own_data()); }, [this] { receive_host(m_pinned.data()); });
            },
            [this] { verify_pinned(); });
        m_session.measure(std::move(made));
    }
};

} // namespace

void rank_host_routes(session& session, const bench_device& where) {
    if (!session.wants("rank-host-to-device") && !session.wants("rank-device-to-host")) return;
    for (const auto bytes : session.sizes(where.device, rank_pair::copies_held)) {
        host_bench bench(session, where, bytes);
        bench.to_device();
        bench.to_host();
    }
}

} // namespace perf
