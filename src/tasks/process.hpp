// SPDX-License-Identifier: Apache-2.0
// What a process has one of, behind causeway/tasks.h: its machine and its distributed memory.
#pragma once

#include "tasks/arena.hpp"
#include "topology/machine.hpp"

#include <atomic>
#include <memory>

namespace causeway::tasks {

struct process_state {
    process_state();
    const topology::machine here;
    const distribution default_distribution; ///< by OMP_DATA_DISTRIBUTION

    /// Made by the first who asks.
    [[nodiscard]] arena& memory();
    [[nodiscard]] bool has_memory() const { return m_memory.load(std::memory_order_acquire) != nullptr; }

  private:
    std::atomic<arena*> m_memory{nullptr};
};

/// Made by the first call, and never destroyed: threads may still free at exit.
[[nodiscard]] process_state& process();

} // namespace causeway::tasks
