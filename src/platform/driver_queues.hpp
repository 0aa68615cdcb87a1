// SPDX-License-Identifier: Apache-2.0
// What this rank's drivers have to do, in a cluster. A process that ends stays until its messages are over and MPI has
// ended; drivers that still compile or run commands when their static objects are gone crash it.
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
    /// Before whoever has added it lets go of it. Its commands need not be over, unless it `is_finished`.
    void remove(cl_command_queue raw, bool is_finished);
    /// Returns when the commands of all queues are over, also of those that have been removed, at the latest after
    /// `limit`; at once if that was too short before. When the process ends.
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
