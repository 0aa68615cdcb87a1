// SPDX-License-Identifier: Apache-2.0
// How few bytes get to a device that several processes may use.
#pragma once

#include "base/clock.hpp"

#include <chrono>
#include <cstddef>

namespace causeway::endpoints {

/// NVIDIA's driver (580) sends few bytes inside its commands (up to 24 KiB of page-locked memory, 64 KiB of other
/// memory). The device's compute engine writes them, for which processes take turns: 150 us if two alternate. As a
/// rectangle of two rows they go by a copy engine, in 19 us from one process to the other. Without another process that
/// costs 2 us more (docs/decisions/0016-small-writes-to-shared-devices.md). Until another process says that it uses the
/// device, the time of its writes decides. One for each device of a context; engine's thread only.
class small_writes {
  public:
    enum class way { plain, two_rows };
    /// Of more the driver makes a copy by itself.
    static constexpr std::size_t most_bytes = std::size_t{64} << 10;

    explicit small_writes(const monotonic_clock& clock) : m_clock(&clock) {}

    /// `is_used_elsewhere`: another process has said that it uses the device.
    [[nodiscard]] way way_of(std::size_t bytes, bool is_used_elsewhere = false) const;
    /// The driver takes no rows.
    void give_rows_up() { m_takes_rows = false; }

    /// One that is under way, alone in its queue.
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
    std::chrono::nanoseconds m_plain{}; // the last of them
    time_point m_rows_until;
    std::chrono::nanoseconds m_span{}; // for how long, the last time; 0 since a plain write was fast
};

} // namespace causeway::endpoints
