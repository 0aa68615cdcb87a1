// SPDX-License-Identifier: Apache-2.0
// Asks the library's part that knows launchers.
#include "launched.hpp"

#include "base/launch.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>

namespace causeway_tool {

std::optional<int> launched_rank() { return causeway::launch::rank(); }

int launched_ranks() { return causeway::launch::ranks(); }

void name_job() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    setenv("CAUSEWAY_TRACE_JOB", (std::to_string(getpid()) + "-" + std::to_string(now.count())).c_str(), 0);
}

bool is_first_rank() { return launched_rank().value_or(0) == 0; }

} // namespace causeway_tool
