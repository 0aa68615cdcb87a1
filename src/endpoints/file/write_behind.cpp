// SPDX-License-Identifier: Apache-2.0
// Counts what it costs, and stops in time.
#include "endpoints/file/write_behind.hpp"

#include <algorithm>

namespace causeway::endpoints {

namespace {

/// Of the time of the writes.
constexpr int largest_share = 8;
/// At once: a disk whose queue is full takes as long as it takes for it.
constexpr off_t largest_range = off_t{1} << 20;

} // namespace

void write_behind::send_on(off_t start, std::size_t bytes) {
    // A block that does not follow the one before it leaves that to the kernel.
    if (start != m_end) m_first = start;
    m_end = start + static_cast<off_t>(bytes);
    while (m_first != m_end && m_sending * largest_share <= m_writing) {
        const auto range = std::min(m_end - m_first, largest_range);
        const auto begun = m_clock.now();
        // A file system that cannot has no need of it.
        (void)m_start(m_fd, m_first, range, SYNC_FILE_RANGE_WRITE);
        m_sending += m_clock.now() - begun;
        m_first += range;
    }
}

} // namespace causeway::endpoints
