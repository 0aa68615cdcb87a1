// SPDX-License-Identifier: Apache-2.0
// One worker of its own, as a disk that is busy may keep it waiting.
#include "endpoints/file/write_behind.hpp"

#include <fcntl.h>

#include <algorithm>

namespace causeway::endpoints {

namespace {

/// The end of a transfer waits for so much at most.
constexpr std::size_t largest_part = std::size_t{1} << 20;

} // namespace

void write_behind::add(off_t start, std::size_t bytes) {
    if (bytes == 0) return;
    const std::lock_guard lock(m_mutex);
    m_written.push_back({start, bytes});
}

write_behind::part write_behind::next() {
    const std::lock_guard lock(m_mutex);
    if (m_written.empty()) return {};
    auto& first = m_written.front();
    const part taken{first.start, std::min(first.bytes, largest_part)};
    first.start += static_cast<off_t>(taken.bytes);
    first.bytes -= taken.bytes;
    if (first.bytes == 0) m_written.pop_front();
    return taken;
}

void write_behind::go_on() {
    if (m_work.pending() || m_closing) return;
    {
        const std::lock_guard lock(m_mutex);
        if (m_written.empty()) return;
    }
    m_work.begin();
    m_workers.run_waiting(
        [this] {
            for (auto some = next(); some.bytes > 0 && !m_closing; some = next())
                // A file system that cannot has no need of it.
                if (::sync_file_range(m_fd, some.start, static_cast<off_t>(some.bytes), SYNC_FILE_RANGE_WRITE) != 0) break;
            return transfer::outcome{};
        },
        m_work);
}

void write_behind::close(transfer::outcome result, transfer::step& done) {
    m_closing = true;
    if (m_work.pending()) {
        m_result = std::move(result);
        m_told = &done;
    } else {
        done.finish(std::move(result));
    }
}

void write_behind::step_finished() {
    (void)m_work.take();
    if (m_told != nullptr) m_told->finish(std::move(m_result));
}

} // namespace causeway::endpoints
