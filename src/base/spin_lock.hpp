// SPDX-License-Identifier: Apache-2.0
// A lock for a few instructions: whoever holds it never blocks, and whoever wants it never sleeps.
#pragma once

#include <atomic>
#include <thread>

namespace causeway {

/// For std::lock_guard. Not fair. If the holder loses its processor, the waiting threads yield until it has it back.
class spin_lock {
  public:
    void lock() noexcept {
        while (m_taken.test_and_set(std::memory_order_acquire)) {
            for (int looks = 0; m_taken.test(std::memory_order_relaxed); ++looks)
                if (looks >= looks_before_yield) std::this_thread::yield();
        }
    }
    void unlock() noexcept { m_taken.clear(std::memory_order_release); }

  private:
    static constexpr int looks_before_yield = 100;
    std::atomic_flag m_taken;
};

} // namespace causeway
