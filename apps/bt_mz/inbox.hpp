// SPDX-License-Identifier: Apache-2.0
// Symmetric device memory into which peers put boundary values. One per process.
#pragma once

#include "bt_mz/problem.hpp"

#include "common/opencl.hpp"

#include <cstddef>
#include <cstdint>

namespace bt_mz {

/// Collective to make, and to destroy.
class inbox {
  public:
    inbox(cl_context context, cl_device_id device, const exchange_plan& plan);
    ~inbox();
    inbox(const inbox&) = delete;
    inbox& operator=(const inbox&) = delete;

    /// Begins a step; returns the half for its values. Double-buffered, because a neighbour may be one step ahead.
    double* begin_step() { return m_halves[m_steps++ % 2]; }
    double* half(int which) { return m_halves[which]; }
    /// Room for what this rank puts elsewhere, for who needs that in the heap.
    double* outgoing() { return m_outgoing; }
    [[nodiscard]] std::size_t bytes() const { return m_bytes; } ///< of each of the three
    /// Of this step, here and on the peers: counts the values that have come in it and in steps 2, 4, ... before.
    std::uint64_t* signal() { return m_signals + (m_steps + 1) % 2; }
    /// Value of the signal once this step's values have come.
    [[nodiscard]] std::uint64_t all_arrived() const { return (m_steps + 1) / 2 * m_peers; }

  private:
    std::size_t m_peers, m_bytes;
    double *m_halves[2] = {}, *m_outgoing = nullptr;
    std::uint64_t* m_signals = nullptr;
    std::uint64_t m_steps = 0;
};

} // namespace bt_mz
