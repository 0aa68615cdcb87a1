// SPDX-License-Identifier: Apache-2.0
// The figures of instructions: 9, 10, 12, 15, 17, 19 and 21.
#pragma once

#include "study/paper/figures.hpp"

#include <cstdint>

namespace paper {

/// Steps through small launches on the nth of all_devices(), with one thread, in a process of its own, and counts what
/// they execute: all that is between the enqueue and the end of clFinish, and the kernel's own code. Throws
/// std::runtime_error where that cannot be done.
void count_figures(std::size_t nth, const std::string& device, const effort& spent, rows& all);

/// What that process does: writes a line to `report` for each launch of at most `most` instructions in its kernel, the
/// fewest of so many looks.
int count_launches(std::size_t nth, std::uint64_t most, unsigned looks, int report);

} // namespace paper
