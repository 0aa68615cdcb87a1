// SPDX-License-Identifier: Apache-2.0
// Two ways to run a graph on fake nodes: one firing after another with unbounded memory, and compiled, asynchronously.
#pragma once

#include "graph/pipeline.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace causeway::graph::testing {

using bytes = std::vector<std::byte>;
/// What each output stream got, by node.
using results = std::map<std::size_t, bytes>;

/// Byte `position` of the input stream of a node.
[[nodiscard]] std::byte input_byte(std::size_t node, std::uint64_t position);
/// What a firing of a kernel or function gives, a function of all that it sees.
[[nodiscard]] std::vector<bytes> compute(std::size_t node, const std::vector<bytes>& seen,
                                         const std::vector<std::size_t>& output_bytes);

/// Knows only the description. Nothing if the graph stops half-way.
[[nodiscard]] std::optional<results> run_serially(const description& described);

/// Runs a compiled graph as devices would: each lane in its order, lanes side by side, with random times between
/// any two events. Memory that nobody may read any more is poisoned. Its `complaint` says what went wrong.
struct simulated_run {
    results delivered;
    std::string complaint;
};
[[nodiscard]] simulated_run run_simulated(const description& described, const pipeline& compiled, std::uint64_t seed);

} // namespace causeway::graph::testing
