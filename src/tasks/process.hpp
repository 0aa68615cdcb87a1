// SPDX-License-Identifier: Apache-2.0
// The process-wide state behind causeway/tasks.h: the machine and the arena.
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

    /// Created at the first call. Any thread.
    [[nodiscard]] arena& memory();
    [[nodiscard]] bool has_memory() const { return m_memory.load(std::memory_order_acquire) != nullptr; }

  private:
    std::atomic<arena*> m_memory{nullptr};
};

/// Made by the first call, and never destroyed: threads may still free at exit.
[[nodiscard]] process_state& process();

} // namespace causeway::tasks
