// SPDX-License-Identifier: Apache-2.0
// Wakes the thread that executes a graph when a stream end may be ready.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace causeway::graph {

/// Any thread.
class doorbell {
  public:
    void ring() {
        {
            const std::lock_guard lock(m_mutex);
            ++m_rings;
        }
        m_rung.notify_all();
    }
    [[nodiscard]] std::uint64_t rings() const {
        const std::lock_guard lock(m_mutex);
        return m_rings;
    }
    /// Blocks until there are more than `seen` rings.
    void wait(std::uint64_t seen) const {
        std::unique_lock lock(m_mutex);
        m_rung.wait(lock, [&] { return m_rings > seen; });
    }

  private:
    mutable std::mutex m_mutex; // guards m_rings
    mutable std::condition_variable m_rung;
    std::uint64_t m_rings = 0;
};

} // namespace causeway::graph
