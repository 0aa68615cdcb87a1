// SPDX-License-Identifier: Apache-2.0
// A thread that looks four times in its limit.
#include "platform/watchdog.hpp"

#include "base/blocked_signals.hpp"
#include "platform/cluster.hpp"
#include "platform/scheduler.hpp"

#include <cstdio>
#include <thread>

namespace causeway::platform {

watchdog& watchdog::of_process() {
    static auto& one = *new watchdog; // its thread runs until the process ends
    return one;
}

void watchdog::start(std::chrono::seconds limit) {
    if (limit.count() == 0) return;
    const blocked_signals none;
    std::thread([this, limit] { run(limit); }).detach();
}

void watchdog::run(std::chrono::seconds limit) {
    constexpr int looks = 4;
    unsigned long seen = 0;
    unsigned long asked_before = 0;
    const char* waited = nullptr;
    for (int quiet = 0;; ++quiet) {
        std::this_thread::sleep_for(std::chrono::milliseconds(limit) / looks);
        const auto moves = m_moves.load(std::memory_order_relaxed);
        const auto asked = m_asked_in_vain.load(std::memory_order_relaxed);
        const auto* const what = asked != asked_before ? "an event, whose status it asks for again and again"
                                                       : m_what.load(std::memory_order_relaxed);
        if (moves != seen || what != waited || what == nullptr) quiet = 0;
        seen = moves;
        asked_before = asked;
        waited = what;
        if (quiet != looks) continue;
        report(limit, what);
        cluster::of_process().calls().report_progress();
    }
}

void watchdog::report(std::chrono::seconds limit, const char* what) const {
    const auto& job = cluster::of_process();
    std::fprintf(
        stderr,
        "causeway: rank %d of %d: nothing has moved for %ld s: the program waits for %s; its last call is %s\n%s",
        job.rank(), job.ranks(), static_cast<long>(limit.count()), what, job.last_call().c_str(),
        scheduler::of_process().describe_waits().c_str());
}

} // namespace causeway::platform
