// SPDX-License-Identifier: Apache-2.0
// Measures the paper's figures that count instructions: 9, 10, 12, 15, 17, 19 and 21.
#pragma once

#include "study/paper/figures.hpp"

#include <cstdint>

namespace paper {

/// Counts the instructions of small launches on the nth of all_devices(): all from the enqueue to the end of clFinish,
/// and those of the kernel alone. Steps through them with one thread, in a process of its own. Throws
/// std::runtime_error where that cannot be done.
void count_figures(std::size_t nth, const std::string& device, const effort& spent, rows& all);

/// The body of that process: counts each launch `looks` times, and writes its lowest count to the descriptor `report`,
/// a line each. Leaves out launches with more than `most` instructions in their kernels.
int count_launches(std::size_t nth, std::uint64_t most, unsigned looks, int report);

} // namespace paper
