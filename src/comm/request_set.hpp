// SPDX-License-Identifier: Apache-2.0
// Requests of MPI under way, and the operations that are told of their ends.
#pragma once

#include "comm/port.hpp"

#include <mpi.h>

#include <cstddef>
#include <utility>
#include <vector>

namespace causeway::comm {

/// The failure of a call of MPI that returned `code`; `what` names the call.
[[nodiscard]] failure mpi_failure(const char* what, int code);

/// Calls up to three times until MPI accepts: a refused call has done nothing, and the other rank may wait for it.
template <class Call> int insist(Call call) {
    int code = call();
    for (int tries = 1; tries < 3 && code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS; ++tries) code = call();
    return code;
}

/// One thread at a time. Operations outlive their requests.
class request_set {
  public:
    /// `request` is active.
    void add(MPI_Request request, operation& done);
    /// As add(), for one that may be over already: then `done` is told at once.
    void watch(MPI_Request request, operation& done);
    /// Cancels a receive. If it ends at once, `done` is told within this call, else by a later poll().
    void cancel(operation& done);
    /// Never calls `done` again.
    void abandon(operation& done);

    /// Tells the operations whose requests are over; true if there were any. They may add and abandon others.
    bool poll();
    [[nodiscard]] std::size_t size() const { return m_requests.size(); }

  private:
    [[nodiscard]] std::size_t find(const operation& done) const;
    void remove(std::size_t index);
    bool poll_one_by_one();
    bool tell();

    // One array for MPI_Testsome: a fraction of the cost of a test each.
    std::vector<MPI_Request> m_requests;
    std::vector<operation*> m_operations;
    std::vector<int> m_indices;
    std::vector<MPI_Status> m_statuses;
    std::vector<std::pair<operation*, arrival>> m_over; // to be told; null if abandoned meanwhile
};

} // namespace causeway::comm
