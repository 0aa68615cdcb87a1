// SPDX-License-Identifier: Apache-2.0
// How many of the smallest tokens an island of a graph takes at once, where its author leaves that to the library.
#pragma once

#include "graph/balance.hpp"
#include "graph/pipeline.hpp"

#include <cstdint>
#include <vector>

namespace causeway::graph {

/// The time of one firing: a part that every command takes, and one for each of the smallest tokens in its token.
struct firing_cost {
    double fixed_seconds = 0, unit_seconds = 0;
};

/// What can be said before anything has run, the same on every machine: by bytes and kind of device.
[[nodiscard]] std::vector<firing_cost> estimated_costs(const description& described, const pipeline& smallest,
                                                       const std::vector<device_limits>& devices);
/// From the seconds that firings of `batch` smallest tokens took; 0 where they are not known. Both by actor.
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

/// The description with tokens of so many smallest ones.
[[nodiscard]] description with_batches(const description& described, const balance& balanced,
                                       const std::vector<std::uint64_t>& batches);

} // namespace causeway::graph
