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
    /// It is left alone while it has no more tasks than this (Algorithm 2). Where the policy releases, that holds for
    /// dealt tasks alone, and as long as the group takes some of them.
    double spared = 0;
};

/// Groups of workers: each has an inbox, and its members steal from one another.
struct grouping {
    std::vector<unsigned> group_of_worker;
    std::vector<unsigned> node_of_group; ///< position in the machine; of its first worker
    std::vector<std::vector<victim>> victims; ///< of each group: others, nearest first
    [[nodiscard]] unsigned groups() const { return static_cast<unsigned>(node_of_group.size()); }
};

/// What is known of a task when it becomes ready.
struct deal_question {
    std::span<const std::uint64_t> bytes_on_node; ///< of its regions, of known addresses
    std::uint64_t bytes = 0; ///< their sum
    std::uint64_t coarse_bytes = 0; ///< of them, those of allocations that lie on one node
    int most_used_node = -1; ///< of the region that is marked, if it lies on one node
    unsigned own_group = 0; ///< of the worker that asks
    std::span<const double> backlog; ///< of each group: distance-weighted bytes of dealt tasks that wait, for each core
};

/// An answer: the queue of the worker that asks, or a group's.
inline constexpr unsigned own_queue = ~0u;

class policy {
  public:
    virtual ~policy() = default;
    [[nodiscard]] virtual grouping group(const topology::machine& machine,
                                         std::span<const unsigned> node_of_worker) = 0;
    /// Whether deal() looks at bytes and backlog: else they are not gathered.
    [[nodiscard]] virtual bool reads_footprints() const { return false; }
    /// Whether deal() ever says anything but own_queue: else it is not asked.
    [[nodiscard]] virtual bool deals() const { return true; }
    /// Any thread may call, many at once.
    [[nodiscard]] virtual unsigned deal(const deal_question& asked) const = 0;
    /// Whether thieves may take what is spared, if its group takes none of it for a while.
    [[nodiscard]] virtual bool releases() const { return true; }
};

/// How the policy `locality` differs from the paper's.
struct locality_rules {
    bool load_term = true; ///< deals by bytes and backlog, not by bytes alone
    bool release = true; ///< starving thieves may steal from nearly empty queues
    bool home_caches = false; ///< Algorithm 3 for tiles, instead of Algorithm 1 and 2 for nodes
    unsigned vicinity = 0; ///< of tiles: how many may steal from one another; 0 for all
};

/// One group, a deque for each worker: the baseline.
[[nodiscard]] std::unique_ptr<policy> work_stealing_policy();
/// One queue for all.
[[nodiscard]] std::unique_ptr<policy> central_policy();
/// Algorithms 1 to 3. Made for one machine, which is copied as far as it is needed.
[[nodiscard]] std::unique_ptr<policy> locality_policy(const topology::machine& machine, const locality_rules& rules);

} // namespace causeway::tasks
