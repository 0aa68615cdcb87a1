// SPDX-License-Identifier: Apache-2.0
// Keeps threads off processors by sched_setaffinity(2). What that refuses changes nothing.
#include "transfer/apart.hpp"

#include <unistd.h>

namespace causeway::transfer {

void thread_apart::begin() {
    // One with a priority may be wanted just where it is.
    if (::sched_getscheduler(0) == SCHED_OTHER) m_thread = ::gettid();
}

bool thread_apart::is_called_from(int processor, time_point now) {
    m_caller = processor;
    if (processor < 0 || m_thread == 0) return false;
    const bool comes_after_it = m_avoided >= 0 && m_avoided != processor;
    if (!comes_after_it && (m_avoided >= 0 || !m_met_caller || now < m_until)) return false;
    m_met_caller = false;
    if (m_avoided < 0) m_until = now + kept_off_for;
    return true;
}

void thread_apart::keep_off() {
    // What others have done to it since is to last: the thread's processors are asked for now, and given back only if
    // they are what is set here. More than the set can name are left to the system.
    cpu_set_t now{};
    if (::sched_getaffinity(m_thread, sizeof now, &now) != 0) return;
    if (m_avoided < 0 || CPU_EQUAL(&now, &m_kept_on) == 0) m_allowed = now;
    auto others = m_allowed;
    CPU_CLR(static_cast<std::size_t>(m_caller), &others);
    if (CPU_COUNT(&others) == 0 || ::sched_setaffinity(m_thread, sizeof others, &others) != 0) return;
    m_kept_on = others;
    m_avoided = m_caller;
}

void thread_apart::woke(int processor) {
    if (m_avoided < 0 && processor >= 0 && processor == m_caller) m_met_caller = true;
}

void thread_apart::let_go() {
    m_avoided = -1;
    cpu_set_t now{};
    if (::sched_getaffinity(0, sizeof now, &now) == 0 && CPU_EQUAL(&now, &m_kept_on) != 0)
        (void)::sched_setaffinity(0, sizeof m_allowed, &m_allowed);
}

} // namespace causeway::transfer
