// SPDX-License-Identifier: Apache-2.0
// Drives an engine: steps while there is work, sleeps as long as the engine allows.
#include "transfer/engine_thread.hpp"

#include "base/blocked_signals.hpp"
#include "base/processors.hpp"

#include <pthread.h>
#include <sys/prctl.h>

#include <ctime>
#include <optional>

namespace causeway::transfer {

namespace {

std::chrono::nanoseconds time_on_processor() {
    timespec spent{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
    return std::chrono::seconds(spent.tv_sec) + std::chrono::nanoseconds(spent.tv_nsec);
}

} // namespace

engine_thread::engine_thread(engine& driven) : m_engine(driven) {
    const blocked_signals inherited;
    m_thread = std::thread([this] { run(); });
    pthread_setname_np(m_thread.native_handle(), "causeway-engine");
}

void engine_thread::run() {
    // The default slack would turn a sleep of 20 into one of 70 microseconds.
    prctl(PR_SET_TIMERSLACK, 1);
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
