// SPDX-License-Identifier: Apache-2.0
// Where workers without work sleep, and how they are woken.
#pragma once

#include "tasks/deque.hpp"

#include <atomic>
#include <cstdint>

namespace causeway::tasks {

/// To sleep: register, look for work once more, and sleep if there is none. After making work: ring. A ring after the
/// registration ends the sleep, or prevents it.
///
/// The count is never below the number of sleepers. ring() decrements it; a thread that registers but does not sleep
/// leaves its count behind. That costs one ring that nobody hears. (Decrementing there could uncount another thread
/// that has begun to sleep.)
template <class Atomics = real_atomics> class doorbell {
  public:
    /// Returns the key for sleep().
    std::uint32_t register_sleeper() {
        m_sleepers.fetch_add(1, std::memory_order_seq_cst);
        const auto key = m_rings.load(std::memory_order_seq_cst);
        Atomics::fence();
        return key;
    }
    void sleep(std::uint32_t key) {
        m_in_sleep.fetch_add(1, std::memory_order_seq_cst);
        m_rings.wait(key, std::memory_order_acquire);
        m_in_sleep.fetch_sub(1, std::memory_order_seq_cst);
    }

    [[nodiscard]] bool has_sleepers() const { return m_sleepers.load(std::memory_order_relaxed) != 0; }
    enum class rung {
        not_at_all, ///< nobody was counted
        unheard,    ///< a count was left, but nobody slept: threads of other bells may do so
        heard,      ///< a sleeper wakes, or has woken and not yet looked for work
    };
    /// Wakes one sleeper.
    rung ring() {
        auto count = m_sleepers.load(std::memory_order_relaxed);
        while (count != 0)
            if (m_sleepers.compare_exchange_weak(count, count - 1, std::memory_order_seq_cst,
                                                 std::memory_order_relaxed)) {
                const auto sleeping = m_in_sleep.load(std::memory_order_seq_cst);
                m_rings.fetch_add(1, std::memory_order_seq_cst);
                m_rings.notify_one();
                return sleeping != 0 ? rung::heard : rung::unheard;
            }
        return rung::not_at_all;
    }
    void ring_all() {
        m_rings.fetch_add(1, std::memory_order_seq_cst);
        m_rings.notify_all();
    }

  private:
    alignas(64) typename Atomics::template atomic<std::uint32_t> m_sleepers{0};
    typename Atomics::template atomic<std::uint32_t> m_rings{0}, m_in_sleep{0};
};

} // namespace causeway::tasks
