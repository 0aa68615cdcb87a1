// SPDX-License-Identifier: Apache-2.0
// Notices when nothing moves while commands wait for others, and says what waits for what.
#pragma once

#include "base/clock.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace causeway::transfer {

/// What the user calls a command, and the in-order queues that it takes part in; null: none.
struct command_label {
    const char* name = "transfer"; ///< lives as long as the process
    std::array<const void*, 2> queues{};
};

/// A command that has not ended.
struct pending_command {
    std::uint64_t number = 0;
    command_label label;
    std::string partner; ///< who else has to act before it can end; empty: nobody (endpoint::partner())
    bool has_started = false;
    std::vector<std::uint64_t> waits_for; ///< commands before it that have not ended
    std::chrono::nanoseconds age{0};      ///< since it was enqueued

    [[nodiscard]] bool is_held_up() const { return has_started && !partner.empty(); }
};

/// For the user: each command that is held up, and what waits behind it, by number. Empty if none is held up.
[[nodiscard]] std::string describe_stall(const std::vector<pending_command>& pending);

/// Decides when to report a stall. Reads no clock itself. One thread.
class stall_watch {
  public:
    explicit stall_watch(time_point now) : m_moved(now) {}

    /// A command came, went on or ended.
    void moved(time_point now);
    /// Whether to put a stall into the timeline: after a second without a move, then after twice as long, and so on.
    [[nodiscard]] bool is_to_record(time_point now);
    /// Whether to tell the user, if something is held up: true once in a stall, after `limit`; with 0 never.
    [[nodiscard]] bool is_to_tell(time_point now, std::chrono::nanoseconds limit);
    /// The user was told. If something moves after that, the next message takes twice as long.
    void told() { m_was_told = true; }
    /// When to look next.
    [[nodiscard]] time_point next(std::chrono::nanoseconds limit) const;

  private:
    [[nodiscard]] time_point due(std::chrono::nanoseconds limit) const;

    time_point m_moved;
    std::chrono::nanoseconds m_recorded_after{0}, m_patience{0};
    bool m_asked = false, m_was_told = false;
};

} // namespace causeway::transfer
