// SPDX-License-Identifier: Apache-2.0
// Symmetric device memory that boundary values are put into. A process has one.
#pragma once

#include "bt_mz/problem.hpp"

#include "common/opencl.hpp"

#include <cstddef>
#include <cstdint>

namespace bt_mz {

/// Collective to make, and to destroy.
class inbox {
  public:
    inbox(cl_context context, cl_device_id device, const mesh& mesh, int rank, const exchange_plan& plan);
    ~inbox();
    inbox(const inbox&) = delete;
    inbox& operator=(const inbox&) = delete;

    /// Where the values of one more step go. A neighbour is one step ahead at most: it puts into the other half then.
    double* begin_step() { return m_halves[m_steps++ % 2]; }
    /// Steps so far.
    [[nodiscard]] std::uint64_t steps() const { return m_steps; }
    double* half(int which) { return m_halves[which]; }
    /// Room for what this rank puts elsewhere, for who needs that in the heap.
    double* outgoing() { return m_outgoing; }
    [[nodiscard]] std::size_t bytes() const { return m_bytes; } ///< of each of the three
    /// Of this rank on its peers: counts its steps.
    std::uint64_t* own_signal() { return m_signals + m_rank; }
    /// Counts the steps of `peer` whose values have come.
    std::uint64_t* signal_of(int peer) { return m_signals + peer; }

  private:
    int m_rank;
    std::size_t m_bytes;
    double *m_halves[2] = {}, *m_outgoing = nullptr;
    std::uint64_t* m_signals = nullptr;
    std::uint64_t m_steps = 0;
};

} // namespace bt_mz
