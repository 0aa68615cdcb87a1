// SPDX-License-Identifier: Apache-2.0
// Sends ranges as long as they come, and stops in time.
#include "endpoints/file/write_behind.hpp"

#include <chrono>
#include <mutex>
#include <utility>

namespace causeway::endpoints {

namespace {

/// At once: a disk whose queue is full takes as long as it takes for it, and the end of the transfer may wait for that once.
constexpr off_t range_bytes = off_t{4} << 20;

} // namespace

/// What the writer and the thread know. Any thread.
class write_behind::written_part {
  public:
    written_part(const file_range& whole, std::shared_ptr<const monotonic_clock> clock, starter start)
        : m_whole(whole), m_clock(std::move(clock)), m_start(start), m_begun(m_clock->now()) {}

    void add(off_t start, std::size_t bytes) {
        const std::lock_guard lock(m_mutex);
        // A block that does not follow the one before it leaves that to the kernel.
        if (start != m_end) m_first = start;
        m_end = start + static_cast<off_t>(bytes);
        m_bytes += bytes;
    }
    void is_over() {
        const std::lock_guard lock(m_mutex);
        m_bytes = m_whole.bytes;
    }
    [[nodiscard]] bool has_range() const {
        const std::lock_guard lock(m_mutex);
        return is_next_in_time();
    }
    void send() {
        std::unique_lock lock(m_mutex);
        while (is_next_in_time()) {
            const auto first = std::exchange(m_first, m_first + range_bytes);
            lock.unlock();
            const auto begun = m_clock->now();
            // A file system that cannot has no need of it.
            (void)m_start(m_whole.fd, first, range_bytes, SYNC_FILE_RANGE_WRITE);
            const auto took = m_clock->now() - begun;
            lock.lock();
            m_last_took = took;
        }
    }

  private:
    /// There is a range, and if it takes as long as the last one it is sent before all is written, at the speed so far.
    [[nodiscard]] bool is_next_in_time() const {
        if (m_end - m_first < range_bytes || m_bytes >= m_whole.bytes) return false;
        const std::chrono::duration<double> so_far = m_clock->now() - m_begun;
        return m_last_took <= so_far / static_cast<double>(m_bytes) * static_cast<double>(m_whole.bytes - m_bytes);
    }

    const file_range m_whole;
    const std::shared_ptr<const monotonic_clock> m_clock;
    const starter m_start;
    const time_point m_begun;
    mutable std::mutex m_mutex; // guards the rest
    std::size_t m_bytes = 0;
    off_t m_first = 0, m_end = 0; // written last, in one piece, and not sent yet
    time_point::duration m_last_took{};
};

write_behind::write_behind(const file_range& whole, transfer::worker_pool& workers, std::shared_ptr<const monotonic_clock> clock,
                           starter start)
    : m_written(std::make_shared<written_part>(whole, std::move(clock), start)), m_workers(workers), m_sending(*this) {}

void write_behind::wrote(off_t start, std::size_t bytes) { m_written->add(start, bytes); }

void write_behind::go_on() {
    if (m_sending.pending() || !m_has_thread || !m_written->has_range()) return;
    m_sending.begin();
    const auto send = [written = m_written] {
        written->send();
        return transfer::outcome();
    };
    m_workers.run_waiting(send, m_sending);
}

void write_behind::step_finished() {
    m_has_thread = !m_sending.take().error;
    if (m_closing != nullptr) std::exchange(m_closing, nullptr)->finish(std::move(m_result));
}

void write_behind::close(transfer::outcome result, transfer::step& done) {
    m_written->is_over();
    if (!m_sending.pending()) {
        done.finish(std::move(result));
        return;
    }
    m_result = std::move(result);
    m_closing = &done;
}

} // namespace causeway::endpoints
