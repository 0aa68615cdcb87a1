// SPDX-License-Identifier: Apache-2.0
// Symmetric device memory into which peers put boundary values.
#pragma once

#include "bt_mz/problem.hpp"

#include <cstddef>
#include <cstdint>

namespace bt_mz {

/// Lies in the process's device_heap. Construction and destruction are collective over all ranks.
class inbox {
  public:
    virtual ~inbox() = default;
    inbox(const inbox&) = delete;
    inbox& operator=(const inbox&) = delete;

    // communication begin
    /// The bytes of the heap that one inbox takes.
    static std::size_t heap_bytes(const exchange_plan& plan) { return 3 * bytes_for(plan) + 8192; }

    /// Begins a step and returns the half that receives its values. There are two halves, because a neighbour may be
    /// one step ahead.
    double* begin_step() { return m_halves[m_steps++ % 2]; }
    double* half(int which) { return m_halves[which]; }
    /// Staging memory for the values that this rank puts to its peers.
    double* outgoing() { return m_outgoing; }
    [[nodiscard]] std::size_t bytes() const { return m_bytes; } ///< of each half, and of outgoing()
    /// The signal word of this step, at one address on all PEs. Counts the peers' puts that have arrived in this step
    /// and in every second step before it.
    std::uint64_t* signal() { return m_signals + (m_steps + 1) % 2; }
    /// Value of the signal once this step's values have come.
    [[nodiscard]] std::uint64_t all_arrived() const { return (m_steps + 1) / 2 * m_peers; }
    // communication end

  protected:
    explicit inbox(const exchange_plan& plan) : m_peers(plan.parts.size()), m_bytes(bytes_for(plan)) {}
    static std::size_t bytes_for(const exchange_plan& plan) { return (plan.most_values + 1) * sizeof(double); }

    // communication begin
    std::size_t m_peers, m_bytes;
    double *m_halves[2] = {}, *m_outgoing = nullptr;
    std::uint64_t* m_signals = nullptr;
    std::uint64_t m_steps = 0;
    // communication end
};

/// For the OpenCL commands of causeway/symmetric.h.
class symmetric_inbox : public inbox {
  public:
    explicit symmetric_inbox(const exchange_plan& plan);
};

/// For OpenSHMEM, which it starts and ends. Values lie in device memory, signals in the heap in host memory. One per
/// process.
class shmem_inbox : public inbox {
  public:
    explicit shmem_inbox(const exchange_plan& plan);
    ~shmem_inbox() override;
};

} // namespace bt_mz
