// SPDX-License-Identifier: Apache-2.0
// How often each node fires until every edge has lost as many bytes as it got.
#pragma once

#include "graph/description.hpp"

#include <cstdint>
#include <vector>

namespace causeway::graph {

struct balance {
    /// Firings of each node in one period: the smallest numbers that fit.
    std::vector<std::uint64_t> repetitions;
    /// Nodes that hang together have the same island; islands know nothing of one another.
    std::vector<std::size_t> island;
    /// Periods of each island in a run: as long as its shortest stream says, or `endless`.
    std::vector<std::uint64_t> periods;
};

/// Throws transfer_error(invalid_value) with a sentence that names nodes and numbers where rates or lengths of streams
/// do not fit one another.
[[nodiscard]] balance balance_of(const description& described);

} // namespace causeway::graph
