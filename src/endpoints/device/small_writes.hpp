// SPDX-License-Identifier: Apache-2.0
// Chooses how small writes reach a device that several processes may use.
#pragma once

#include "base/clock.hpp"

#include <chrono>
#include <cstddef>

namespace causeway::endpoints {

/// NVIDIA's driver (580) sends small writes inside its commands (up to 24 KiB from page-locked memory, 64 KiB from
/// other memory). The device's compute engine carries them out, and processes take turns on it: 150 us if two
/// alternate. A write as a rectangle of two rows goes by a copy engine: 19 us from one process to the other, but 2 us
/// more than a plain write if the process is alone (docs/decisions/0016-small-writes-to-shared-devices.md). So
/// rectangles are used once another process says that it uses the device, or plain writes are slow. One for each device
/// of a context; engine's thread only.
class small_writes {
  public:
    enum class way { plain, two_rows };
    /// Larger writes go by a copy engine anyway.
    static constexpr std::size_t most_bytes = std::size_t{64} << 10;

    explicit small_writes(const monotonic_clock& clock) : m_clock(&clock) {}

    /// `is_used_elsewhere`: another process has said that it uses the device.
    [[nodiscard]] way way_of(std::size_t bytes, bool is_used_elsewhere = false) const;
    /// The driver refuses rectangles: way_of() returns `plain` from now on.
    void give_rows_up() { m_takes_rows = false; }

    /// Times one write that is alone in its queue.
    struct timing {
        small_writes* of;
        way which;
        time_point begun;
        void ended(time_point now) const { of->learn(which, now - begun, now); }
    };
    [[nodiscard]] timing begin(way which) { return {this, which, m_clock->now()}; }

  private:
    void learn(way which, std::chrono::nanoseconds took, time_point now);

    const monotonic_clock* m_clock;
    bool m_takes_rows = true;
    int m_slow = 0; // plain writes in a row
    std::chrono::nanoseconds m_plain{}; // the time of the last slow plain write
    time_point m_rows_until; // until then writes go as two rows
    std::chrono::nanoseconds m_span{}; // how long writes went as two rows the last time; 0 after a fast plain write
};

} // namespace causeway::endpoints
