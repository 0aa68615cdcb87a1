// SPDX-License-Identifier: Apache-2.0
// Keeps threads that are called off the processors of those who call them.
#pragma once

#include "base/clock.hpp"

#include <sched.h>
#include <sys/types.h>

#include <chrono>

namespace causeway::transfer {

/// Those that threads of one set are bound to, and do not sleep. Guarded by whoever guards the set.
class taken_processors {
  public:
    taken_processors() { CPU_ZERO(&m_taken); }
    void give_back(int processor) { CPU_CLR(static_cast<std::size_t>(processor), &m_taken); }
    /// Whether nobody had it.
    [[nodiscard]] bool take(int processor);
    /// The next of `allowed` after `caller` that nobody has; -1 if there is none.
    [[nodiscard]] int take_after(int caller, const cpu_set_t& allowed);

  private:
    cpu_set_t m_taken;
};

/// Of one thread that sleeps until it is called. Linux wakes a thread on the processor of whoever calls it unless it knows of an idle
/// one, and in a virtual machine those that sleep do not count as idle, as the hypervisor runs nothing there (`vcpu_is_preempted()`; seen with kernel
/// 6.18 on KVM). Then both share one processor for milliseconds while others sleep: two threads took as long as one for 4 MiB. A thread that finds itself
/// there is bound to another processor for a second; where that does not happen, none is.
class thread_apart {
  public:
    static constexpr auto bound_for = std::chrono::seconds(1);

    /// In the thread, before its first sleep.
    void begin();
    /// By the caller, under the guard of `taken`; -1 if the two may meet. Whether bind() is due.
    [[nodiscard]] bool is_called_from(int processor, taken_processors& taken, time_point now);
    /// By the caller, right before the call: to its own processor, or to none.
    void bind() const;
    /// In the thread, when it was called.
    void woke();
    /// In the thread before it sleeps, under the guard of `taken`. Whether unbind() is due.
    [[nodiscard]] bool ends_stay(taken_processors& taken, time_point now);
    void unbind() const;

  private:
    pid_t m_thread = 0;
    int m_caller = -1, m_own = -1; // processors; the one it is bound to
    bool m_met_caller = false;
    bool m_holds_own = false; // among those taken
    time_point m_bound_at;
    cpu_set_t m_allowed{}; // before it was bound
};

} // namespace causeway::transfer
