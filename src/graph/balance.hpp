// SPDX-License-Identifier: Apache-2.0
// Balance equations: how often each node fires per period so that every edge loses as many bytes as it gets.
#pragma once

#include "graph/description.hpp"

#include <cstdint>
#include <vector>

namespace causeway::graph {

struct balance {
    /// Firings of each node in one period: the smallest numbers that fit.
    std::vector<std::uint64_t> repetitions;
    /// Connected component of each node. Islands are independent of one another.
    std::vector<std::size_t> island;
    /// Periods of each island in a run, from the length of its shortest stream; or `endless`.
    std::vector<std::uint64_t> periods;
};

/// Throws transfer_error(invalid_value) with a sentence that names nodes and numbers where rates or lengths of streams
/// do not fit one another.
[[nodiscard]] balance balance_of(const description& described);

} // namespace causeway::graph
