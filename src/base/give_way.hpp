// SPDX-License-Identifier: Apache-2.0
// Yields the processor between two polls.
#pragma once

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

namespace causeway {

/// Yields; after a yield that took longer than `slow`, later calls sleep 50 us instead, until the next try. A thread
/// that yields runs again after the time slices of all others, milliseconds each (Linux); one that slept runs again
/// soon. The count of sleeps is the thread's; a call never finds more of them than it would leave itself. Any thread.
inline void give_way(std::chrono::microseconds slow = std::chrono::microseconds(500),
                     unsigned sleeps_until_next_try = 1000) {
    thread_local unsigned sleeps = 0;
    sleeps = std::min(sleeps, sleeps_until_next_try);
    if (sleeps != 0) {
        --sleeps;
        ::usleep(50);
        return;
    }
    const auto before = std::chrono::steady_clock::now();
    ::sched_yield();
    if (std::chrono::steady_clock::now() - before > slow) sleeps = sleeps_until_next_try;
}

} // namespace causeway
