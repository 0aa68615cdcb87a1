// SPDX-License-Identifier: Apache-2.0
// What a scheduling policy decides: in which group's queue a task waits, and from whom a worker steals. The pool and
// the simulator ask the same object.
#pragma once

#include "topology/machine.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace causeway::tasks {

/// Another group that a worker may steal from.
struct victim {
    unsigned group = 0;
    /// Thieves leave it alone while it has at most this many tasks (Algorithm 2). If the policy releases(), only dealt
    /// tasks are spared, and only while the group keeps taking some.
    double spared = 0;
};

/// Groups of workers: each has an inbox, and its members steal from one another.
struct grouping {
    std::vector<unsigned> group_of_worker;
    std::vector<unsigned> node_of_group; ///< index into machine::nodes; node of its first worker
    std::vector<std::vector<victim>> victims; ///< of each group: others, nearest first
    [[nodiscard]] unsigned groups() const { return static_cast<unsigned>(node_of_group.size()); }
};

/// What is known of a task when it becomes ready.
struct deal_question {
    std::span<const std::uint64_t> bytes_on_node; ///< bytes of its regions by node; unknown addresses are left out
    std::uint64_t bytes = 0; ///< their sum
    std::uint64_t coarse_bytes = 0; ///< those of them in allocations on a single node
    int most_used_node = -1; ///< node of the region marked most_used, if it lies on one node; else -1
    unsigned own_group = 0; ///< of the worker that asks
    std::span<const double> backlog; ///< by group: distance-weighted bytes of waiting dealt tasks, per core
    std::uint64_t most_used_bytes = 0; ///< of the marked region, if it has a most_used_node
};

/// Result of deal() that means the asking worker's own deque; any other is a group's index.
inline constexpr unsigned own_queue = ~0u;

class policy {
  public:
    virtual ~policy() = default;
    [[nodiscard]] virtual grouping group(const topology::machine& machine,
                                         std::span<const unsigned> node_of_worker) = 0;
    /// Whether deal() reads bytes and backlog; if not, the pool does not gather them.
    [[nodiscard]] virtual bool reads_footprints() const { return false; }
    /// Whether deal() may return anything but own_queue; if not, the pool does not call it.
    [[nodiscard]] virtual bool deals() const { return true; }
    /// Any thread, concurrently.
    [[nodiscard]] virtual unsigned deal(const deal_question& asked) const = 0;
    /// Whether thieves may take spared tasks once their group has taken none for a while.
    [[nodiscard]] virtual bool releases() const { return true; }
};

/// How the policy `locality` differs from the paper's.
struct locality_rules {
    bool load_term = true; ///< deals by bytes and backlog, not by bytes alone
    bool release = true; ///< starving thieves may steal from nearly empty queues
    bool home_caches = false; ///< Algorithm 3 for tiles, instead of Algorithm 1 and 2 for nodes
    unsigned vicinity = 0; ///< number of nearby tiles that steal from one another; 0: all
};

/// One group, a deque for each worker: the baseline.
[[nodiscard]] std::unique_ptr<policy> work_stealing_policy();
/// One queue for all.
[[nodiscard]] std::unique_ptr<policy> central_policy();
/// The paper's Algorithms 1 to 3, for one machine. Keeps a copy of what it needs of `machine`.
[[nodiscard]] std::unique_ptr<policy> locality_policy(const topology::machine& machine, const locality_rules& rules);

} // namespace causeway::tasks
