// SPDX-License-Identifier: Apache-2.0
// The queues of this rank's drivers in a cluster. A process stays until its messages are over and MPI has ended;
// drivers that still compile or run commands by then crash it.
#pragma once

#include "platform/driver.hpp"

#include <chrono>
#include <mutex>
#include <vector>

namespace causeway::platform {

/// One for the process. Any thread.
class driver_queues {
  public:
    [[nodiscard]] static driver_queues& of_process();

    void add(cl_command_queue raw);
    /// Call before the queue is released by whoever added it. Its commands may still run, unless it `is_finished`.
    void remove(cl_command_queue raw, bool is_finished);
    /// For the end of the process: returns when the commands of all queues, removed ones included, are over, at the
    /// latest after `limit`. At once if `limit` was too short before.
    void finish(std::chrono::milliseconds limit);
    /// The same for the last time: what is removed from then on is not waited for.
    void end(std::chrono::milliseconds limit);
    /// Calls finish(limit) when the process ends by this thread, if that is its first one: before any handler of
    /// `exit`.
    void finish_first(std::chrono::milliseconds limit);

  private:
    driver_queues() = default;

    std::mutex m_mutex; // guards what follows
    std::vector<cl_command_queue> m_queues;
    std::vector<driver_object<cl_event>> m_last; ///< markers behind the commands of queues that have been removed
    bool m_ends = false, m_in_vain = false;
};

} // namespace causeway::platform
