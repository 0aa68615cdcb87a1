// SPDX-License-Identifier: Apache-2.0
// Drives an engine: steps while there is work, sleeps as long as the engine allows.
#include "transfer/engine_thread.hpp"

#include "base/blocked_signals.hpp"
#include "base/processors.hpp"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>

#include <algorithm>
#include <ctime>
#include <optional>

namespace causeway::transfer {

namespace {

std::chrono::nanoseconds time_on_processor() {
    timespec spent{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
    return std::chrono::seconds(spent.tv_sec) + std::chrono::nanoseconds(spent.tv_nsec);
}

/// A thread of the program takes no signals while it drives the engine: their handlers may do anything, even not
/// return.
constexpr auto longest_without_signals = std::chrono::milliseconds(10);

/// Sleeps of microseconds need that; the default turns one of 20 into one of 70.
class fine_timers {
  public:
    fine_timers() : m_before(prctl(PR_GET_TIMERSLACK)) { prctl(PR_SET_TIMERSLACK, 1); }
    ~fine_timers() { prctl(PR_SET_TIMERSLACK, m_before); }
    fine_timers(const fine_timers&) = delete;
    fine_timers& operator=(const fine_timers&) = delete;

  private:
    int m_before;
};

sigset_t raised() {
    sigset_t all{};
    sigpending(&all);
    return all;
}

/// What a step throws would end here, in the call of somebody else, as little as in the engine's own thread.
bool step_once(engine& driven) noexcept { return driven.step(); }

} // namespace

engine_thread::inline_driver::undisturbed::undisturbed() : m_raised_before(raised()) {
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &m_cancel_before);
}

engine_thread::inline_driver::undisturbed::~undisturbed() {
    const timespec at_once{};
    sigset_t only{};
    for (const int each : {SIGPIPE, SIGXFSZ}) {
        if (sigismember(&m_raised_before, each) == 1) continue;
        sigemptyset(&only);
        sigaddset(&only, each);
        const auto now = raised();
        if (sigismember(&now, each) == 1) (void)sigtimedwait(&only, nullptr, &at_once);
    }
    pthread_setcancelstate(m_cancel_before, nullptr);
}

engine_thread::inline_driver::inline_driver(engine_thread& sleeping) : m_sleeping(sleeping) {
    // A thread that others may keep from its processor, or that keeps others from theirs, is none for all transfers.
    if (!sleeping.m_engine.inbox()->can_take_over() || sched_getscheduler(0) != SCHED_OTHER) return;
    m_protection.emplace();
    m_drives = sleeping.m_engine.inbox()->take_over();
    if (m_drives) {
        m_sleeping.m_driver = std::this_thread::get_id();
    } else {
        m_protection.reset();
    }
}

engine_thread::inline_driver::~inline_driver() {
    if (!m_drives) return;
    m_sleeping.m_driver = m_sleeping.m_own.load();
    const bool at_once = m_sleeping.m_stopping;
    m_sleeping.m_engine.inbox()->hand_back(at_once ? std::chrono::nanoseconds(0) : m_sleeping.m_engine.pause());
}

void engine_thread::inline_driver::advance(const command& work) {
    if (!m_drives) return;
    std::optional<fine_timers> timers;
    auto& driven = m_sleeping.m_engine;
    const auto until = std::chrono::steady_clock::now() + longest_without_signals;
    while (!work.is_told() && !m_sleeping.m_stopping) {
        const bool progress = step_once(driven);
        const auto now = std::chrono::steady_clock::now();
        if (now >= until) return;
        if (progress) continue;
        const auto pause = driven.pause();
        if (pause && pause->count() == 0) {
            std::this_thread::yield();
            continue;
        }
        if (!timers) timers.emplace();
        driven.inbox()->wait_inline(std::min<std::chrono::nanoseconds>(pause.value_or(until - now), until - now));
    }
}

engine_thread::engine_thread(engine& driven) : m_engine(driven) {
    const blocked_signals inherited;
    m_thread = std::thread([this] { run(); });
    m_own = m_thread.get_id();
    pthread_setname_np(m_thread.native_handle(), "causeway-engine");
}

void engine_thread::run() {
    m_driver = std::this_thread::get_id();
    const fine_timers timers;
    const auto processors = processors::of_rank();
    std::optional<std::chrono::nanoseconds> before_sleep;
    while (!m_stopping) {
        if (m_engine.step()) {
            before_sleep.reset();
            continue;
        }
        const auto pause = m_engine.pause();
        if (pause && pause->count() == 0) {
            before_sleep.reset();
            std::this_thread::yield();
            continue;
        }
        const auto now = time_on_processor();
        if (before_sleep) m_engine.looked_in_vain((now - *before_sleep) / processors);
        before_sleep = now;
        m_engine.inbox()->wait(pause);
    }
    m_over.set_value();
}

bool engine_thread::wait_idle(std::chrono::milliseconds longest) const {
    const auto until = std::chrono::steady_clock::now() + longest;
    while (m_engine.active() > 0) {
        if (std::chrono::steady_clock::now() >= until) return false;
        std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    return true;
}

bool engine_thread::drain(std::chrono::milliseconds longest, const failure& reason) {
    if (wait_idle(longest)) return true;
    m_engine.cancel_all(reason);
    return wait_idle(std::chrono::seconds(1));
}

void engine_thread::stop() {
    if (!m_thread.joinable()) return;
    m_engine.call([this] { m_stopping = true; });
    m_thread.join();
}

bool engine_thread::stop_within(std::chrono::milliseconds longest) {
    if (!m_thread.joinable()) return true;
    m_engine.call([this] { m_stopping = true; });
    const bool over = m_over.get_future().wait_for(longest) == std::future_status::ready;
    over ? m_thread.join() : m_thread.detach();
    return over;
}

} // namespace causeway::transfer
