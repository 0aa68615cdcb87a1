// SPDX-License-Identifier: Apache-2.0
// Counts what it costs, and stops in time.
#include "endpoints/file/write_behind.hpp"

namespace causeway::endpoints {

namespace {

/// Of the time of the writes.
constexpr int largest_share = 8;

} // namespace

void write_behind::send_on(off_t start, std::size_t bytes) {
    // A block that does not follow the one before it leaves that to the kernel.
    if (start != m_end) m_first = start;
    m_end = start + static_cast<off_t>(bytes);
    if (m_first == m_end || m_sending * largest_share > m_writing) return;
    const auto begun = m_clock.now();
    // A file system that cannot has no need of it.
    (void)m_start(m_fd, m_first, m_end - m_first, SYNC_FILE_RANGE_WRITE);
    m_sending += m_clock.now() - begun;
    m_first = m_end;
}

} // namespace causeway::endpoints
