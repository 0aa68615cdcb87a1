// SPDX-License-Identifier: Apache-2.0
// Two ranks whose devices may be the same one or have a direct link, over which the library takes windows.
#pragma once

#include "perf/direct_link.hpp"
#include "perf/rank_pair.hpp"

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

namespace perf {

/// As rank_pair. Where CUDA can copy between the devices, the constructor waits for the library's windows.
class linked_pair : public rank_pair {
  public:
    /// `in_vain`: no windows of these devices came although they were waited for; the same on both ranks. Waits once,
    /// at most 15 s.
    linked_pair(session& session, const bench_device& where, std::size_t bytes, bool& in_vain)
        : rank_pair(session, where, bytes) {
        find_link();
        if (m_has_link && !in_vain) in_vain = !wait_for_windows();
    }

  protected:
    std::unique_ptr<direct_link> m_link; // of rank 0, if it sees both devices: what CUDA's copies reach
    bool m_has_link = false; // on both ranks: there is one
    std::string m_way; // of the bytes, as the report names it

  private:
    void find_link() {
        std::array<device_uuid, 2> both{};
        const auto own = uuid_of(m_where.device);
        MPI_Allgather(own.data(), int(own.size()), MPI_BYTE, both.data(), int(own.size()), MPI_BYTE, m_comm);
        m_is_same = both[0] == both[1];
        if (m_rank == 0)
            m_link = m_is_same ? direct_link::within(own, m_bytes) : direct_link::between(both[0], both[1], m_bytes);
        m_way = m_is_same ? "within the device" : "over the direct link";
        int found = m_link ? 1 : 0;
        MPI_Bcast(&found, 1, MPI_INT, 0, m_comm);
        m_has_link = found != 0;
    }

    /// Sends messages until they go by windows, which the library sets up beside the first large ones.
    bool wait_for_windows() {
        const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(15); // the trial of links included
        const auto least = m_session.buffers() == buffer_kind::linked ? 64 * kib : m_is_same ? 4 * mib : mib;
        while (m_bytes >= least) {
            advance();
            const auto moved = enqueue_exchange();
            wait_for(std::array{moved.get()});
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
            const int is_missing = plan_of(moved.get()).strategy != "device-window" ? 1 : 0;
            std::array either{is_missing, std::chrono::steady_clock::now() < until ? 0 : 1};
            MPI_Allreduce(MPI_IN_PLACE, either.data(), int(either.size()), MPI_INT, MPI_MAX, m_comm);
            if (either[0] == 0) return true;
            if (either[1] != 0) {
                note_no_windows();
                return false;
            }
        }
        return true;
    }

    /// Notes both ranks' reasons, because either may lack windows.
    void note_no_windows() {
        std::array<char, 256> own{};
        const auto said = words_on_links(m_where.device);
        said.copy(own.data(), own.size() - 1);
        std::array<std::array<char, 256>, 2> both{};
        MPI_Allgather(own.data(), int(own.size()), MPI_CHAR, both.data(), int(own.size()), MPI_CHAR, m_comm);
        std::string text = "no message goes through windows " + m_way + ": rank 0 says: " + both[0].data();
        if (both[0] != both[1]) text += std::string(", rank 1: ") + both[1].data();
        m_session.note(text);
    }

    bool m_is_same = false; // both ranks share a device
};

} // namespace perf
