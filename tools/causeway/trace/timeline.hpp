// SPDX-License-Identifier: Apache-2.0
// A timeline as people ask about it: ranks, transfers, and what hid behind what.
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
    std::string waits_for; ///< of one that had not ended when the timeline did; else empty
};

/// One program of a rank: mostly there is no other.
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
    std::map<int, rank> ranks; ///< by the number that trace events call the process by
    span whole;                ///< from the begin of the first slice to the end of the last one
    nlohmann::json events;     ///< as they are in the file
};

/// What is wanted of a timeline: what lies, also in part, between two times, in microseconds from its begin. Events
/// stay out of memory, of which they take ten times what they take in the file, if nobody wants them.
struct extract {
    bool with_events = false;
    span between{0, std::numeric_limits<double>::infinity()};
};

/// Takes in what killed ranks left. Throws std::runtime_error that says what is wrong with the file.
[[nodiscard]] timeline read_timeline(const std::string& path, const extract& wanted);

/// Of the time in which transfers were under way, the share in which commands of the program were, too; negative if
/// there is nothing to compare.
[[nodiscard]] double hidden_share(const rank& which);

/// Each rank, each route over all ranks, and what was pending at the end.
[[nodiscard]] nlohmann::json summary_of(const timeline& shown);
void print_summary(const nlohmann::json& summary);

} // namespace trace
