// SPDX-License-Identifier: Apache-2.0
// Keeps threads that are called off the processors of those who call them.
#pragma once

#include "base/clock.hpp"

#include <sched.h>
#include <sys/types.h>

#include <chrono>

namespace causeway::transfer {

/// Of one thread that sleeps until it is called. Linux wakes a thread on the processor of whoever calls it unless it
/// knows of an idle one, and in a virtual machine those that sleep do not count as idle, as the hypervisor runs nothing
/// there
/// (`vcpu_is_preempted()`; seen with kernel 6.18 on KVM). Then both share one processor for milliseconds while others
/// sleep: two threads took as long as one for 4 MiB. A thread that found itself there is kept off its caller's
/// processor for a while; where that does not happen, nothing is done.
///
/// Who calls it does so while it sleeps and nobody else may call it; all other functions are the thread's own.
class thread_apart {
  public:
    static constexpr auto kept_off_for = std::chrono::seconds(1);

    /// Before its first sleep.
    void begin();
    /// By the caller, who goes on working on `processor`; -1 if it waits for the thread. Whether keep_off() is due.
    [[nodiscard]] bool is_called_from(int processor, time_point now);
    /// By the caller, right before the call.
    void keep_off();
    /// When it was called, on `processor`.
    void woke(int processor);
    /// Before it sleeps, and between its jobs.
    void look_at_time(time_point now) {
        if (m_avoided >= 0 && now >= m_until) let_go();
    }

  private:
    void let_go();

    pid_t m_thread = 0;
    int m_caller = -1, m_avoided = -1; // processors
    bool m_met_caller = false;
    time_point m_until; // it is kept off, or has nowhere else to go
    cpu_set_t m_allowed{}, m_kept_on{};
};

} // namespace causeway::transfer
