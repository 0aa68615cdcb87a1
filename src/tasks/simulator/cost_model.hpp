// SPDX-License-Identifier: Apache-2.0
// Times of work and memory accesses on a machine. All results are modelled, not measured.
#pragma once

#include "topology/machine.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace causeway::tasks::simulator {

/// Sizes are in bytes, times in seconds.
struct cost_model {
    topology::machine machine;
    double multiply = 0, other = 0; ///< one operation
    double own_byte = 0;            ///< one byte of the node's own memory, for one core alone
    double waited_byte = 0;         ///< as own_byte, where the core waits for each line; 0 if it never does
    double run_ahead = 0;           ///< operations per line above which the core waits for lines
    double cached_byte = 0;         ///< one byte that the last-level cache has
    std::vector<double> factors;    ///< row-major by pairs of nodes: time of a remote byte over that of an own one
    double node_bandwidth = 0;      ///< bytes per second that all cores together get from one node's memory
    /// Empty unless measured: numbers of cores that stream at once, ascending from one, and the bytes per second that
    /// they get together.
    std::vector<std::pair<double, double>> measured_bandwidth;
    double link_bandwidth = 0; ///< into one node from all others, and out of it; 0: no limit
    double spawn = 0, steal = 0; ///< seconds to spawn a task, and to steal one
    double ring = 0, wake = 0; ///< seconds of the waking call, and from it until the thread starts; 0: none sleeps
    /// Empty unless measured: for pools of 2, 4, ... threads, `wake` of each further thread when all are woken. With
    /// nearly as many threads as processors, some share one, and start when the other thread ends its task.
    std::vector<std::vector<double>> measured_wakes;
    double awake = 300e-6; ///< seconds for which an idle worker looks for work before it sleeps, as in the pool
    double patience = 20e-6; ///< seconds after which thieves take spared tasks, as in the pool
    std::uint64_t private_cache = 0; ///< bytes of each core's own cache; the last-level cache gets what it evicts. 0:
                                     ///< the last-level cache holds everything
    bool shares_cache = true; ///< cores of a node have one last-level cache; else each core's is too small to keep
                              ///< regions
    bool uniform_standard = false; ///< "standard" spreads over all home caches, as on the TILEPro64
    std::uint64_t unit = 4096; ///< of distributions

    static constexpr double line_bytes = 64;

    /// What one node's memory gives where cores would take `wanted` if each were alone.
    [[nodiscard]] double bandwidth(double wanted) const;
    /// Seconds until a rung thread starts, if `awake` of the pool's `threads` are awake by then.
    [[nodiscard]] double wake_beside(std::size_t awake, std::size_t threads) const;
    [[nodiscard]] double factor(std::size_t from, std::size_t to) const {
        return factors[from * machine.nodes.size() + to];
    }
};

/// The model of "opteron48", "tilepro64", "this" machine (measured when it is first asked for), an hwloc synthetic
/// description, or an hwloc XML file.
[[nodiscard]] cost_model model_of(const std::string& machine);

} // namespace causeway::tasks::simulator
