// SPDX-License-Identifier: Apache-2.0
// A device buffer of one rank that goes to that of another.
#pragma once

#include "way.hpp"

#include <CL/cl.h>

#include <cstddef>
#include <vector>

namespace alternatives {

/// Rank 0 sends, rank 1 receives; both make the same ways and run them in the same order. The time is that of the
/// slower one.
[[nodiscard]] std::vector<way> rank_ways(cl_device_id device, std::size_t bytes);

} // namespace alternatives
