// SPDX-License-Identifier: Apache-2.0
// Threads that wait for one piece of work after another: who buffers by hand would not start them each time.
#pragma once

#include <barrier>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace alternatives {

class team {
  public:
    explicit team(unsigned threads) : m_turn(threads + 1) {
        for (unsigned i = 0; i < threads; ++i) m_threads.emplace_back([this, i] { live(i); });
    }
    ~team() {
        m_work = nullptr;
        m_turn.arrive_and_wait();
    }
    team(const team&) = delete;
    team& operator=(const team&) = delete;

    [[nodiscard]] unsigned size() const { return static_cast<unsigned>(m_threads.size()); }

    /// `work(i)` in each thread; returns when all are done, and throws what one of them has thrown.
    void run(std::function<void(unsigned)> work) {
        m_work = std::move(work);
        m_turn.arrive_and_wait();
        m_turn.arrive_and_wait();
        if (const auto failed = std::exchange(m_failed, nullptr)) std::rethrow_exception(failed);
    }

  private:
    void live(unsigned number) {
        for (;;) {
            m_turn.arrive_and_wait();
            if (!m_work) return;
            try {
                m_work(number);
            } catch (...) {
                const std::lock_guard lock(m_mutex);
                m_failed = std::current_exception();
            }
            m_turn.arrive_and_wait();
        }
    }

    std::barrier<> m_turn; // before and after each work; orders m_work
    std::function<void(unsigned)> m_work;
    std::mutex m_mutex; // guards m_failed
    std::exception_ptr m_failed;
    std::vector<std::jthread> m_threads; // last: they use the others
};

} // namespace alternatives
