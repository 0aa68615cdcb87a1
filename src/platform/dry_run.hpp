// SPDX-License-Identifier: Apache-2.0
// A dry run: one process plays a rank of a simulated job, to count its commands and their cost.
#pragma once

#include "base/cluster_calls.hpp"

#include <cstddef>
#include <optional>
#include <string_view>

namespace causeway::platform {

struct imagined_job {
    int ranks = 0;
    std::size_t devices = 0; ///< of each rank
    int rank = 0; ///< which of them the process is
};

/// RANKSxDEVICES or RANKSxDEVICES:RANK.
[[nodiscard]] std::optional<imagined_job> read_dry_run(std::string_view text);

/// Stands in for MPI: every rank answers as this one does, messages complete at once, and received bytes are zeros.
[[nodiscard]] cluster_calls calls_of_dry_run(const imagined_job& job);

} // namespace causeway::platform
