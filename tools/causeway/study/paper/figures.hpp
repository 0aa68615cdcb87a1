// SPDX-License-Identifier: Apache-2.0
// What is measured for each figure of the paper, as rows.
#pragma once

#include "study/paper/device.hpp"
#include "study/paper/verdict.hpp"

#include <string>
#include <vector>

namespace paper {

/// How long each point is measured, at least six times; three in a hasty run, whose verdicts say nothing.
struct effort {
    double seconds = 0.2;
    /// So short a run only checks that everything works, so it leaves out the large sizes.
    [[nodiscard]] bool is_hasty() const { return seconds < 0.01; }
    [[nodiscard]] bool leaves_out(const application& of) const { return is_hasty() && of.number > 50'000; }
};

/// Shares of set-up, compilation and kernel in programs that run once, and again from the binary that came of it:
/// figures 3 to 7 in short.
void measure_calls(cl_platform_id platform, cl_device_id raw, const effort& spent, rows& all);
/// Items per work-item: figures 8 and 11; instruction-level parallelism: 13; work-group sizes: 14, 16, 18 and 20.
void measure_scheduling(device& on, const effort& spent, rows& all);
/// Copies and maps, flags and allocations: figures 22 to 27.
void measure_memory(device& on, const effort& spent, rows& all);
/// OpenCL and OpenMP: figure 28 and algorithm 1, of those whose results agree; affinity: table 7.
void measure_vectors(device& on, const effort& spent, rows& all);
void measure_affinity(const effort& spent, rows& all);

} // namespace paper
