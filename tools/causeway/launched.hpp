// SPDX-License-Identifier: Apache-2.0
// Whether a launcher started this process, as the library reads it.
#pragma once

#include <optional>

namespace causeway_tool {

/// The rank that mpirun, srun or the like started this process as; none if none did.
[[nodiscard]] std::optional<int> launched_rank();

/// How many ranks it started; 1 if none did.
[[nodiscard]] int launched_ranks();

/// Gives all processes started from now on one job name in timelines, whatever launchers say. Keeps an earlier name.
void name_job();

/// Whether this is the rank that prints: the first, or the only one.
[[nodiscard]] bool is_first_rank();

} // namespace causeway_tool
