// SPDX-License-Identifier: Apache-2.0
// File format of a part of a timeline. Written in place by a process that may be killed at any moment.
#pragma once

#include <cstddef>
#include <cstdint>

/// A header, then chunks. A chunk belongs to one recorder, which fills it from the front; zeros follow its last record.
/// Each text is written once and then referred to by number; every recorder numbers its own. Times are nanoseconds.
namespace causeway::trace::record {

inline constexpr std::size_t header_bytes = 4096, chunk_bytes = std::size_t{256} << 10;
inline constexpr char magic[8] = {'C', 'W', 'T', 'R', 'A', 'C', 'E', '2'};

struct file_header {
    char magic[8];
    std::int32_t rank, ranks; ///< 0 of 1 until MPI is initialised
    std::uint64_t node; ///< equal for processes with one monotonic clock
    std::int64_t process;
    std::int64_t begun, begun_since_1970; ///< the same moment by two clocks, in nanoseconds
    std::int64_t ended; ///< 0 while the process runs, or if it was killed
    std::uint32_t is_cut; ///< records were dropped for want of room
    std::uint32_t is_job_guessed; ///< no launcher has told it
    char job[256], host[256], version[64];
    char links[512]; ///< by which devices reach each other directly, or why not; empty if nobody asked
};
static_assert(sizeof(file_header) <= header_bytes);

struct chunk_header {
    std::uint32_t recorder; ///< from 1
    std::uint32_t unused;
};

enum class kind : std::uint32_t {
    none,
    text,
    block,
    transfer,
    command,
    wait_for_command,
    wait_for_transfer,
    command_wait,
    firing,
    clock,
    peer,
    level,
    call
};

/// Before each record; stored last, in one atomic store, so that a record with a head is whole.
struct head {
    std::uint32_t bytes; ///< of the record behind it, a multiple of 8
    kind what;
};

/// Its letters follow.
struct text {
    std::uint32_t number, length;
};
struct block {
    std::uint64_t transfer, offset, bytes;
    std::int64_t begin, end;
    std::uint32_t resource;
    std::uint16_t flow;
    std::uint8_t what, failed;
};
/// Without an end, the transfer waits, and `error` says for what. Of several records of a transfer the last counts.
struct transfer {
    std::uint64_t transfer, bytes, moved, block_bytes, message;
    std::int64_t queued, submitted, started, ended;
    double expected_seconds, limit_seconds; ///< 0: not known
    std::uint32_t source, target, strategy, error;
    std::uint32_t depth, io_threads;
    std::int32_t status, message_rank;
    std::uint32_t flow, reason;
};
/// Also of kind wait_for_command, with `transfer`.
struct command {
    std::uint64_t number, queue, transfer;
    std::uint64_t queued, submitted, started, ended;
    std::int64_t seen;
    std::uint32_t resource, name;
};
struct wait {
    std::uint64_t transfer, other;
};
struct command_wait {
    std::uint64_t number, transfer;
};
struct firing {
    std::uint64_t number, started, ended;
    std::uint32_t graph, actor, resource, unused;
};
struct clock {
    std::uint64_t device;
    std::int64_t before, after;
    std::uint32_t resource, unused;
};
struct peer {
    std::int64_t least, most, when;
    std::int32_t rank;
    std::uint32_t unused;
};
/// Of the program's host code.
struct call {
    std::int64_t begin, end;
    std::uint64_t bytes;
    std::uint32_t kind, name;
};
struct level {
    std::uint64_t value;
    std::int64_t when;
    std::uint32_t what, unused;
};

} // namespace causeway::trace::record
