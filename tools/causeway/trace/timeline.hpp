// SPDX-License-Identifier: Apache-2.0
// A timeline read for queries: ranks, transfers, and how much of their time commands overlapped.
#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace trace {

struct span {
    double begin = 0, end = 0; ///< microseconds
};

struct transfer {
    std::string name;
    span when;
    double waited = 0;       ///< microseconds before it began
    double bytes = 0;        ///< that were moved
    double limit = 0;        ///< microseconds; 0: not known
    std::string strategy;
    std::string error;
    std::string waits_for; ///< for a transfer still pending at the end of the timeline; else empty
};

/// One program of a rank, which usually runs only one.
struct rank {
    int number = 0, ranks = 1;
    long process = 0;
    std::string host, clock, direct_links;
    double clock_uncertainty = 0; ///< microseconds
    bool ended = true, cut = false;
    std::size_t commands_without_times = 0;
    std::vector<transfer> transfers;
    std::vector<span> commands; ///< of the program, and firings of graphs
};

struct timeline {
    std::string job;
    std::map<int, rank> ranks; ///< by the process number of the trace events
    span whole;                ///< from the begin of the first slice to the end of the last one
    nlohmann::json events;     ///< as they are in the file
};

/// What to read of a timeline: all that overlaps `between`, in microseconds from its begin. Raw events are read only if
/// wanted, because they take ten times their file size in memory.
struct extract {
    bool with_events = false;
    span between{0, std::numeric_limits<double>::infinity()};
};

/// First adds parts left by killed ranks. Throws std::runtime_error with what is wrong with the file.
[[nodiscard]] timeline read_timeline(const std::string& path, const extract& wanted);

/// Share of the transfers' time that overlapped commands of the program, 0 to 1; negative if there is nothing to
/// compare.
[[nodiscard]] double hidden_share(const rank& which);

/// Each rank, each route over all ranks, and what was pending at the end.
[[nodiscard]] nlohmann::json summary_of(const timeline& shown);
void print_summary(const nlohmann::json& summary);

} // namespace trace
