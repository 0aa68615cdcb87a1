// SPDX-License-Identifier: Apache-2.0
// What the process's engine does with MPI: messages, spaces of communicators, symmetric heaps, and the end of MPI.
#pragma once

#include "comm/mpi_port.hpp"
#include "endpoints/mpi/messenger.hpp"
#include "endpoints/mpi/rank_endpoint.hpp"
#include "endpoints/symmetric/heap.hpp"
#include "runtime/runtime.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

namespace causeway::core {

/// Made by the first transfer that needs MPI and, like the runtime, never destroyed. Any thread unless a function says
/// otherwise.
class mpi_runtime {
  public:
    [[nodiscard]] static mpi_runtime& instance();

    [[nodiscard]] endpoints::rank_services ranks() { return {m_messenger, m_process.turns()}; }
    [[nodiscard]] comm::mpi_port& port() { return m_port; }

    /// The space of a communicator; MPI must be usable. Hooks MPI_Finalize and starts to watch the ranks of the node.
    [[nodiscard]] int space_of(MPI_Comm comm);
    void make_private(MPI_Comm comm);
    /// A symmetric heap of this process, which takes part until MPI ends, or it leaves.
    [[nodiscard]] std::shared_ptr<endpoints::heap> make_heap(int pe, std::size_t bytes,
                                                             std::vector<endpoints::heap_member> members,
                                                             std::unique_ptr<comm::distant_watch> distant);
    /// Prepares for work that needs MPI.
    void use_mpi();
    /// MPI is about to end: ends all work that needs it, and lets go of it. Starts no engine for that.
    static void before_finalize();
    /// As above, for transfers on `comm`, unless it is predefined. True if `comm` takes no more transfers.
    static bool before_free(MPI_Comm comm);
    /// A communicator outlives its closed space. From now on space_of() refuses such communicators.
    void free_was_refused() { m_free_was_refused = true; }

  private:
    mpi_runtime();
    void at_finalize();
    void close_space(int space);

    runtime& m_process;
    comm::mpi_port m_port;
    endpoints::messenger m_messenger;
    endpoints::heap_waits m_heap_waits;
    std::atomic<bool> m_free_was_refused{false};
    std::mutex m_mutex; // guards the rest
    std::vector<std::weak_ptr<endpoints::heap>> m_heaps;
    std::set<int> m_closed_spaces;
    bool m_used = false;
    bool m_ended = false;
};

} // namespace causeway::core
