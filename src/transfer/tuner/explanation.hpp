// SPDX-License-Identifier: Apache-2.0
// One line about a transfer, for its user: what was chosen, why, what came of it.
#pragma once

#include "base/error.hpp"
#include "transfer/plan.hpp"

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

namespace causeway::transfer {

struct explained_transfer {
    std::string source, target;
    std::size_t bytes = 0, moved = 0;
    plan chosen;
    std::optional<double> expected_seconds;
    std::chrono::nanoseconds took{};
    failure error;
};

/// "/data/input.bin -> device buffer, 64 MiB: pipelined, block 4 MiB, depth 4, I/O threads 2, measured (next best:
/// mapped in 15.1 ms); expected 11.2 ms, took 11.9 ms, 5.64 GB/s"
[[nodiscard]] std::string explain(const explained_transfer& what);

} // namespace causeway::transfer
