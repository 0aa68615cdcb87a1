// SPDX-License-Identifier: Apache-2.0
// Binds threads by sched_setaffinity(2). What that refuses changes nothing.
#include "transfer/apart.hpp"

#include <unistd.h>

#include <utility>

namespace causeway::transfer {

bool taken_processors::take(int processor) {
    const auto bit = static_cast<std::size_t>(processor);
    if (CPU_ISSET(bit, &m_taken)) return false;
    CPU_SET(bit, &m_taken);
    return true;
}

int taken_processors::take_after(int caller, const cpu_set_t& allowed) {
    for (int step = 1; step < CPU_SETSIZE; ++step) {
        const int each = (caller + step) % CPU_SETSIZE;
        if (CPU_ISSET(static_cast<std::size_t>(each), &allowed) && take(each)) return each;
    }
    return -1;
}

void thread_apart::begin() { m_thread = ::gettid(); }

bool thread_apart::is_called_from(int processor, taken_processors& taken, time_point now) {
    m_caller = processor;
    if (m_own >= 0 && m_own != processor) {
        m_holds_own = taken.take(m_own);
        if (m_holds_own || processor < 0) return false;
    }
    if (processor < 0 || (m_own < 0 && !m_met_caller)) return false;
    const int before = m_own;
    m_met_caller = false;
    m_own = taken.take_after(processor, m_allowed);
    m_holds_own = m_own >= 0;
    m_bound_at = now;
    return before >= 0 || m_own >= 0;
}

void thread_apart::bind() const {
    auto one = m_allowed;
    if (m_own >= 0) CPU_ZERO(&one);
    if (m_own >= 0) CPU_SET(static_cast<std::size_t>(m_own), &one);
    (void)::sched_setaffinity(m_thread, sizeof one, &one);
}

void thread_apart::woke() {
    if (m_own >= 0 || m_caller < 0 || ::sched_getcpu() != m_caller) return;
    // More processors than the set can name: left to the system.
    m_met_caller = ::sched_getaffinity(0, sizeof m_allowed, &m_allowed) == 0;
}

bool thread_apart::ends_stay(taken_processors& taken, time_point now) {
    if (m_own < 0) return false;
    if (std::exchange(m_holds_own, false)) taken.give_back(m_own);
    if (now - m_bound_at < bound_for) return false;
    m_own = -1;
    return true;
}

void thread_apart::unbind() const { (void)::sched_setaffinity(0, sizeof m_allowed, &m_allowed); }

} // namespace causeway::transfer
