// SPDX-License-Identifier: Apache-2.0
// Whether a launcher started this process, as the library reads it.
#pragma once

#include <optional>

namespace causeway_tool {

/// The rank that mpirun, srun or the like started this process as; none if none did.
[[nodiscard]] std::optional<int> launched_rank();

/// How many ranks it started; 1 if none did.
[[nodiscard]] int launched_ranks();

/// What is started from here on is one job in a timeline, whatever launchers say, unless somebody has said so before.
void name_job();

/// One of several ranks speaks: the first, or the only one.
[[nodiscard]] bool is_first_rank();

} // namespace causeway_tool
