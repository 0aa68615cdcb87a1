// SPDX-License-Identifier: Apache-2.0
// Copies by the engine's thread into memory that one other process reads next.
#pragma once

#include "base/clock.hpp"
#include "base/streamed_copy.hpp"

#include <chrono>
#include <cstddef>
#include <cstring>

namespace causeway::endpoints {

/// Chooses for each block whether it goes through this processor's caches or past them. Through them is faster if the
/// reader's processor shares one. Judges by how long its own copies take, because threads and virtual processors move.
/// Engine's thread only.
class outward_copies {
  public:
    explicit outward_copies(const monotonic_clock& clock) : m_clock(clock) {}

    /// Calls `block(copy)` once. `block` copies `bytes` in all, by calls of `copy(to, from, bytes)`.
    template <class Block> void copy(std::size_t bytes, Block block) {
        if (bytes < smallest_timed) {
            block(through_caches);
            return;
        }
        const auto begun = m_clock.now();
        const bool streams = is_to_stream(begun);
        block(streams ? past_caches : through_caches);
        if (streams) copied_all();
        learn(streams, bytes, begun, m_clock.now());
    }

    static void through_caches(std::byte* to, const std::byte* from, std::size_t bytes) {
        std::memcpy(to, from, bytes);
    }

  private:
    /// Smaller blocks are not timed, and go through the caches.
    static constexpr std::size_t smallest_timed = std::size_t{32} << 10;

    static void past_caches(std::byte* to, const std::byte* from, std::size_t bytes) { streamed_copy(to, from, bytes); }

    [[nodiscard]] bool is_to_stream(time_point now) const;
    void learn(bool streamed, std::size_t bytes, time_point begun, time_point ended);
    [[nodiscard]] bool is_slow(double rate) const;
    void confirm(time_point now);

    const monotonic_clock& m_clock;
    double m_rate = 0, m_rate_before = 0; // bytes per second, of the last blocks that were streamed
    int m_streamed = 0;         // how many rates are in m_rate
    time_point m_streamed_last; // when a block was last streamed
    double m_suspected = 0;     // bytes per second of a slow block through the caches, until a streamed one is timed
    int m_slow = 0;             // slow blocks through the caches in a row
    time_point m_streams_until; // until then blocks are streamed
    std::chrono::nanoseconds m_span{}; // how long they were streamed the last time; 0 after a fast block through caches
};

} // namespace causeway::endpoints
