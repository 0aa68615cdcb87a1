// SPDX-License-Identifier: Apache-2.0
// The drivers' queues of this rank in a cluster, to finish at the end of the process: drivers that still compile or run
// commands after MPI has ended crash it.
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
    /// Call before releasing a queue that was added. Unless `is_finished`, its commands may still run, and finish()
    /// waits for them.
    void remove(cl_command_queue raw, bool is_finished);
    /// At the end of the process: waits at most `limit` for the commands of all queues, removed ones included. Returns
    /// at once if an earlier wait ran out.
    void finish(std::chrono::milliseconds limit);
    /// As finish(), for the last time: queues removed later are not waited for.
    void end(std::chrono::milliseconds limit);
    /// If this is the main thread: calls finish(limit) when it exits the process, before any `exit` handler.
    void finish_first(std::chrono::milliseconds limit);

  private:
    driver_queues() = default;

    std::mutex m_mutex; // guards what follows
    std::vector<cl_command_queue> m_queues;
    std::vector<driver_object<cl_event>> m_last; ///< markers behind the commands of queues that have been removed
    bool m_ends = false, m_in_vain = false;
};

} // namespace causeway::platform
