// SPDX-License-Identifier: Apache-2.0
// Asks the library's part that knows launchers.
#include "launched.hpp"

#include "base/launch.hpp"

namespace causeway_tool {

std::optional<int> launched_rank() { return causeway::launch::rank(); }

int launched_ranks() { return causeway::launch::ranks(); }

bool is_first_rank() { return launched_rank().value_or(0) == 0; }

} // namespace causeway_tool
