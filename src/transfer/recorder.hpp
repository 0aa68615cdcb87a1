// SPDX-License-Identifier: Apache-2.0
// Hears what the engine does and when, for a timeline.
#pragma once

#include "base/clock.hpp"
#include "base/error.hpp"
#include "transfer/plan.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace causeway::transfer {

/// What one block does at one end of a flow. `meet` has no block: the flow waits for the other rank.
enum class activity : std::uint8_t { copy_in, copy_out, map_in, map_out, read, write, send, receive, copy, meet };
inline constexpr std::size_t activity_count = 10;

struct block_span {
    std::uint64_t transfer = 0;
    unsigned flow = 0;
    activity what{};
    std::string_view resource; ///< as the tuner knows it; may be empty; lives as long as the process
    std::size_t offset = 0, bytes = 0;
    time_point begin, end; ///< as the engine sees them
    bool failed = false;
};

/// One flow of a transfer that has ended, or that is stalled (transfer/stall.hpp).
struct transfer_span {
    std::uint64_t transfer = 0;
    std::string partner; ///< of one that waits: who else has to act for it; may be empty
    unsigned flow = 0;
    std::string source, target;
    std::size_t bytes = 0, moved = 0;
    plan chosen; ///< strategy empty if it never started
    message_identity message;
    std::optional<double> expected_seconds; ///< of this plan, by the tuner's figures
    std::optional<double> limit_seconds;    ///< of the slowest stage alone, at full speed
    time_point queued, submitted, started, ended; ///< zero if not reached
    failure error;
    [[nodiscard]] bool is_pending() const { return ended == time_point{}; }
};

/// A command of the program, as its event tells. Times are the device's own nanoseconds, 0 where its queue does not
/// profile.
struct command_span {
    std::uint64_t number = 0; ///< of watched commands, from 1; 0: not watched
    std::uint64_t queue = 0;  ///< its handle
    std::string_view resource; ///< lives as long as the process
    std::string_view name;
    std::uint64_t queued = 0, submitted = 0, started = 0, ended = 0;
    time_point seen; ///< when the host saw it complete
};

/// The device's clock read `device` at some moment between the two host times.
struct clock_sample {
    std::string_view resource;
    std::uint64_t device = 0;
    time_point before, after;
};

/// A firing of a graph's actor, in the times of its device (`resource`), or of the host if that is empty.
struct firing_span {
    std::string_view graph, actor, resource;
    std::uint64_t number = 0, started = 0, ended = 0;
};

/// Another rank's clock minus this one's, in nanoseconds, with the bounds that the quickest messages set.
struct peer_clock {
    int job_rank = -1;
    std::int64_t least = 0, most = 0;
    time_point when;
};

/// What is counted over time.
enum class level : std::uint8_t { transfers_running, staging_bytes, mpi_requests };
inline constexpr std::size_t level_count = 3;

/// One thread at a time. Never blocks for long, never throws, keeps no view that it is given.
class recorder {
  public:
    virtual ~recorder() = default;
    [[nodiscard]] virtual time_point now() const = 0;
    virtual void block_over(const block_span& what) = 0;
    virtual void transfer_over(const transfer_span& what) = 0;
    virtual void command_over(const command_span& what) = 0;
    /// `transfer` could not start before this command was complete, or before `other` was.
    virtual void waited_for(std::uint64_t transfer, const command_span& what) = 0;
    virtual void waited_for(std::uint64_t transfer, std::uint64_t other) = 0;
    /// The watched command of this number waits for a transfer.
    virtual void command_waits(std::uint64_t number, std::uint64_t transfer) = 0;
    virtual void firing_over(const firing_span& what) = 0;
    virtual void clock_seen(const clock_sample& what) = 0;
    virtual void peer_seen(const peer_clock& what) = 0;
    virtual void level_is(level what, std::uint64_t value) = 0;
};

} // namespace causeway::transfer
