// SPDX-License-Identifier: Apache-2.0
// Keeps a thread off the processor of the thread that wakes it.
#pragma once

#include "base/clock.hpp"

#include <sched.h>
#include <sys/types.h>

#include <chrono>

namespace causeway::transfer {

/// One per thread that sleeps until another thread (its caller) wakes it. Linux wakes a thread on its caller's
/// processor unless it knows of an idle one. In a virtual machine a sleeping processor does not count as idle
/// (`vcpu_is_preempted()`; kernel 6.18 on KVM). Then both threads share one processor for milliseconds: two copied 4
/// MiB no faster than one. A thread that woke on its caller's processor is kept off it for a second.
///
/// One caller at a time calls is_called_from() and keep_off(), while the thread sleeps. The rest is for the thread.
class thread_apart {
  public:
    static constexpr auto kept_off_for = std::chrono::seconds(1);

    /// Before its first sleep.
    void begin();
    /// By the caller, which keeps working on `processor`; -1 if it will wait instead. True if keep_off() is due.
    [[nodiscard]] bool is_called_from(int processor, time_point now);
    /// By the caller, right before the call.
    void keep_off();
    /// The thread was called and runs on `processor`.
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
    time_point m_until; // when it may return, or be kept off anew
    cpu_set_t m_allowed{}, m_kept_on{};
};

} // namespace causeway::transfer
