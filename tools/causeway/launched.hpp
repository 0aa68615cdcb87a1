// SPDX-License-Identifier: Apache-2.0
// Whether a launcher started this process, as the library reads it.
#pragma once

#include <optional>

namespace causeway_tool {

/// The rank that mpirun, srun or the like started this process as; none if none did.
[[nodiscard]] std::optional<int> launched_rank();

/// How many ranks it started; 1 if none did.
[[nodiscard]] int launched_ranks();

/// From here on, all that is started is one job in a timeline, whatever launchers say. An earlier setting stays.
void name_job();

/// One of several ranks speaks: the first, or the only one.
[[nodiscard]] bool is_first_rank();

} // namespace causeway_tool
