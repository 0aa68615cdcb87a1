// SPDX-License-Identifier: Apache-2.0
// Ends the job when a process of this node dies, whatever this PE does meanwhile.
#pragma once

#include "base/descriptor.hpp"
#include "comm/process_watch.hpp"

#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

namespace causeway::oshmem {

/// A thread that sleeps until a process ends. It then leaves the launcher a few seconds to end the job.
class death_alarm {
  public:
    /// `watched`, by PE, outlives it. When a process has ended, the thread calls `counts(pe)`, which returns false if
    /// that PE was allowed to end. If it returns true, the thread calls `end_job(pe)`.
    death_alarm(const std::vector<comm::process_watch>& watched, std::function<bool(std::size_t pe)> counts,
                std::function<void(std::size_t pe)> end_job);
    ~death_alarm();
    death_alarm(const death_alarm&) = delete;
    death_alarm& operator=(const death_alarm&) = delete;

  private:
    void watch(const std::vector<comm::process_watch>& watched) const;

    std::function<bool(std::size_t)> m_counts;
    std::function<void(std::size_t)> m_end_job;
    descriptor m_end; // of the thread; eventfd(2)
    std::thread m_thread; // none if nobody can be watched
};

} // namespace causeway::oshmem
