// SPDX-License-Identifier: Apache-2.0
// Rows are tried once plain writes were slow, and kept for a while if they are not; the longer, the more often that is
// found again.
#include "endpoints/device/small_writes.hpp"

#include <algorithm>

namespace causeway::endpoints {

namespace {

/// Alone a plain write takes 7 us, and a process's turn tens.
constexpr auto slow = std::chrono::microseconds(50);
/// One may have waited for something else.
constexpr int slow_writes = 2;
constexpr auto shortest_span = std::chrono::milliseconds(100), longest_span = std::chrono::milliseconds(2000);

} // namespace

small_writes::way small_writes::way_of(std::size_t bytes, bool is_used_elsewhere) const {
    if (!m_takes_rows || bytes < 2 || bytes % 2 != 0 || bytes > most_bytes) return way::plain;
    return is_used_elsewhere || m_slow >= slow_writes || m_clock->now() < m_rows_until ? way::two_rows : way::plain;
}

void small_writes::learn(way which, std::chrono::nanoseconds took, time_point now) {
    if (which == way::plain) {
        if (took < slow) {
            m_slow = 0;
            m_span = {};
        } else {
            ++m_slow;
            m_plain = took;
        }
        return;
    }
    if (m_slow < slow_writes) return; // nobody asked
    if (took < m_plain / 2) {
        m_span = std::clamp<std::chrono::nanoseconds>(2 * m_span, shortest_span, longest_span);
        m_rows_until = now + m_span;
        m_slow = slow_writes - 1; // one more plain write confirms it
    } else {
        m_slow = 0;
        m_span = {};
    }
}

} // namespace causeway::endpoints
