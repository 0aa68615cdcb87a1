// SPDX-License-Identifier: Apache-2.0
// Chooses an island's batch, the number of smallest tokens in a token, where token sizes are automatic.
#pragma once

#include "graph/balance.hpp"
#include "graph/pipeline.hpp"

#include <cstdint>
#include <vector>

namespace causeway::graph {

/// The time of one firing: fixed + batch * unit.
struct firing_cost {
    double fixed_seconds = 0, unit_seconds = 0;
};

/// Estimates before anything has run, from bytes and kind of device; the same on every machine.
[[nodiscard]] std::vector<firing_cost> estimated_costs(const description& described, const pipeline& smallest,
                                                       const std::vector<device_limits>& devices);
/// Costs from measured `seconds` per firing at the given `batches`; where seconds are 0 (unknown), the estimate. All by
/// actor.
[[nodiscard]] std::vector<firing_cost> measured_costs(std::vector<firing_cost> estimated,
                                                      const std::vector<double>& seconds, const pipeline& smallest,
                                                      const std::vector<std::uint64_t>& batches);

/// The time of a run of an island with `batch` of the smallest tokens in each token: the pipeline fills once, then the
/// slowest lane sets the pace.
[[nodiscard]] double predicted_seconds(const pipeline& smallest, const std::vector<firing_cost>& costs,
                                       std::size_t island, std::uint64_t batch);

/// The batch of each island. It is 1 if a stream has a token size of its own or no known length, and in loops, whose
/// delays count tokens. Otherwise it is a divisor of the island's periods: the smallest whose predicted time is close
/// to the best, with tokens of at most `most_bytes`.
[[nodiscard]] std::vector<std::uint64_t> choose_batches(const description& described, const balance& balanced,
                                                        const pipeline& smallest, const std::vector<firing_cost>& costs,
                                                        std::size_t most_bytes = std::size_t{16} << 20);

/// The description with each island's tokens multiplied by its batch.
[[nodiscard]] description with_batches(const description& described, const balance& balanced,
                                       const std::vector<std::uint64_t>& batches);

} // namespace causeway::graph
