// SPDX-License-Identifier: Apache-2.0
// One process plays a rank of an imagined job, to count its commands and what they cost.
#pragma once

#include "base/cluster_calls.hpp"

#include <cstddef>
#include <optional>
#include <string_view>

namespace causeway::platform {

struct imagined_job {
    int ranks = 0;
    std::size_t devices = 0; ///< of each rank
    int rank = 0;            ///< which of them the process is
};

/// RANKSxDEVICES or RANKSxDEVICES:RANK.
[[nodiscard]] std::optional<imagined_job> read_dry_run(std::string_view text);

/// Every rank has what this one has; messages are over at once, those from others are zeros.
[[nodiscard]] cluster_calls calls_of_dry_run(const imagined_job& job);

} // namespace causeway::platform
