// SPDX-License-Identifier: Apache-2.0
// Gives the processor away between two looks for what other threads and processes bring.
#pragma once

#include <sched.h>
#include <unistd.h>

#include <chrono>

namespace causeway {

/// Linux puts a thread that yields behind the whole time slices of all others, milliseconds each, but lets one that
/// has slept in soon. So this yields, and sleeps 50 us for a while after a yield has taken long. Any thread.
inline void give_way() {
    using namespace std::chrono_literals;
    constexpr auto slow = 500us;
    constexpr unsigned sleeps_until_next_try = 1000;
    thread_local unsigned sleeps = 0;
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
