// SPDX-License-Identifier: Apache-2.0
// Sends ranges as long as they come, and stops in time.
#include "endpoints/file/write_behind.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

namespace causeway::endpoints {

namespace {

/// At once: a disk whose queue is full takes as long as it takes for it, and the end of the transfer may wait for that
/// once. 1 and 8 MiB are as good.
constexpr off_t range_bytes = off_t{4} << 20;
/// Until a thread is awake.
constexpr auto shortest_time = std::chrono::milliseconds(1);
/// Of a process. The disk is busy with fewer; of more transfers at once some are left to the kernel.
constexpr int most_senders = 4;

std::atomic<int> senders{0};

/// One of those few, until the last copy is gone.
std::shared_ptr<void> slot_among_senders() {
    if (senders.fetch_add(1) < most_senders) return {&senders, [](void*) { --senders; }};
    --senders;
    return nullptr;
}

} // namespace

/// What the writers and the thread know. Any thread.
class write_behind::written_part {
  public:
    written_part(const file_range& whole, std::shared_ptr<const monotonic_clock> clock, starter start)
        : m_whole(whole), m_clock(std::move(clock)), m_start(start), m_begun(m_clock->now()) {}

    void add(off_t start, std::size_t bytes) {
        const std::lock_guard lock(m_mutex);
        m_bytes += bytes;
        auto end = start + static_cast<off_t>(bytes);
        auto next = m_unsent.lower_bound(start);
        if (next != m_unsent.end() && next->first == end) {
            end = next->second;
            next = m_unsent.erase(next);
        }
        if (next != m_unsent.begin() && std::prev(next)->second == start) {
            std::prev(next)->second = end;
        } else {
            m_unsent.emplace_hint(next, start, end);
        }
    }
    void is_over() {
        const std::lock_guard lock(m_mutex);
        m_bytes = m_whole.bytes;
    }
    [[nodiscard]] bool has_range() const {
        const std::lock_guard lock(m_mutex);
        return is_there_time() && first_range() != m_unsent.end();
    }
    void send() {
        std::unique_lock lock(m_mutex);
        while (const auto first = take_range()) {
            lock.unlock();
            const auto begun = m_clock->now();
            // A file system that cannot has no need of it.
            (void)m_start(m_whole.fd, *first, range_bytes, SYNC_FILE_RANGE_WRITE);
            const auto took = m_clock->now() - begun;
            lock.lock();
            m_last_took = took;
        }
    }

  private:
    using ranges = std::map<off_t, off_t>; // first, end

    /// A range that takes as long as the last one is sent before all is written, at the speed so far.
    [[nodiscard]] bool is_there_time() const {
        if (m_bytes == 0 || m_bytes >= m_whole.bytes) return false;
        const std::chrono::duration<double> so_far = m_clock->now() - m_begun;
        const auto left = so_far / static_cast<double>(m_bytes) * static_cast<double>(m_whole.bytes - m_bytes);
        return std::max<time_point::duration>(m_last_took, shortest_time) <= left;
    }
    [[nodiscard]] ranges::const_iterator first_range() const {
        return std::find_if(m_unsent.begin(), m_unsent.end(),
                            [](const auto& each) { return each.second - each.first >= range_bytes; });
    }
    [[nodiscard]] std::optional<off_t> take_range() {
        if (!is_there_time()) return {};
        const auto found = first_range();
        if (found == m_unsent.end()) return {};
        const auto [first, end] = *found;
        const auto behind = m_unsent.erase(found);
        if (first + range_bytes < end) m_unsent.emplace_hint(behind, first + range_bytes, end);
        return first;
    }

    const file_range m_whole;
    const std::shared_ptr<const monotonic_clock> m_clock;
    const starter m_start;
    const time_point m_begun;
    mutable std::mutex m_mutex; // guards the rest
    std::size_t m_bytes = 0;    // written
    ranges m_unsent;
    time_point::duration m_last_took{};
};

write_behind::write_behind(const file_range& whole, transfer::worker_pool& workers,
                           std::shared_ptr<const monotonic_clock> clock, starter start)
    : m_written(std::make_shared<written_part>(whole, std::move(clock), start)), m_workers(workers), m_sending(*this) {}

write_behind::~write_behind() { m_written->is_over(); }

void write_behind::wrote(off_t start, std::size_t bytes) { m_written->add(start, bytes); }

void write_behind::go_on() {
    if (m_sending.pending() || !m_has_thread || !m_written->has_range()) return;
    auto slot = slot_among_senders();
    if (!slot) return;
    m_sending.begin();
    const auto send = [written = m_written, slot = std::move(slot)] {
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
