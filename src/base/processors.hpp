// SPDX-License-Identifier: Apache-2.0
// How many processors this process may use, which is often far fewer than the machine has.
#pragma once

#include <filesystem>
#include <limits>
#include <string_view>

namespace causeway::processors {

/// The limits of a rank. A launcher binds ranks to processors (affinity). Containers and batch systems set a quota of
/// time, and the processors to use, for all processes inside.
struct bounds {
    unsigned affinity = 1; ///< processors that the calling thread, and threads that it starts, may run on
    unsigned there = 1;    ///< for all ranks of the node: those of the machine, or of the cgroup if these are fewer
    double quota = std::numeric_limits<double>::infinity(); ///< processors' worth of time, of all ranks of the node
    unsigned ranks = 1;    ///< of this node
};

/// The part of one rank, at least 1.
[[nodiscard]] unsigned part_of_rank(const bounds& known);

/// The bounds of the calling thread. `root` has the folders proc and sys.
[[nodiscard]] bounds find_bounds(const std::filesystem::path& root = "/");

[[nodiscard]] inline unsigned of_rank() { return part_of_rank(find_bounds()); }

/// Whether a rank has fewer processors than threads that wait for each other: the program's, the engine's, a
/// scheduler's, the driver's. If so, a wait must not poll without a pause: it would keep what it waits for from
/// running. Asked once.
[[nodiscard]] inline bool are_few() {
    static const bool few = of_rank() < 4;
    return few;
}

/// How many processors a list of cpuset(7) names: 6 for "0-3,8,10". 0 if `list` is no such list.
[[nodiscard]] unsigned count_of(std::string_view list);

} // namespace causeway::processors
