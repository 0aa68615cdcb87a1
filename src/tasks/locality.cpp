// SPDX-License-Identifier: Apache-2.0
// The policy `locality`: Algorithms 1 and 2 for machines with memory nodes, 3 for tiles with home caches; with a term
// for load and release of thieves that starve, which the paper's rules lack, and marked regions on nodes, too.
#include "tasks/policy.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <utility>

namespace causeway::tasks {

namespace {

class locality final : public policy {
  public:
    locality(const topology::machine& machine, const locality_rules& rules)
        : m_rules(rules), m_nodes(machine.nodes.size()), m_columns(machine.columns),
          m_least_bytes(machine.cache_bytes / std::max(1u, rules.home_caches ? 1u : machine.cores_per_cache)) {}

    grouping group(const topology::machine& machine, std::span<const unsigned> node_of_worker) override {
        grouping made;
        std::map<unsigned, unsigned> group_of_node;
        std::vector<unsigned> members;
        for (const auto node : node_of_worker) {
            const auto [found, added] = group_of_node.emplace(node, made.groups());
            if (added) {
                made.node_of_group.push_back(node);
                members.push_back(0);
            }
            made.group_of_worker.push_back(found->second);
            ++members[found->second];
        }
        made.victims.resize(made.groups());
        for (unsigned group = 0; group < made.groups(); ++group) {
            const auto node = made.node_of_group[group];
            auto& victims = made.victims[group];
            for (unsigned other = 0; other < made.groups(); ++other) {
                const auto far = made.node_of_group[other];
                if (other == group || (m_rules.home_caches && vicinity_of(node) != vicinity_of(far))) continue;
                // Algorithm 2: distance times cores. The paper's tiles steal whatever their vicinity has; ours leave
                // the last task to its home for a while.
                const double tile_spared = m_rules.release ? 1 : 0;
                victims.push_back(
                    {other, m_rules.home_caches ? tile_spared : machine.distance(node, far) * members[other]});
            }
            // Each begins with the ones behind it, so that not all thieves go to the same of several as near.
            std::stable_sort(victims.begin(), victims.end(), [&](const victim& left, const victim& right) {
                const auto key = [&](const victim& each) {
                    return std::pair(machine.distance(node, made.node_of_group[each.group]),
                                     (each.group + made.groups() - group) % made.groups());
                };
                return key(left) < key(right);
            });
        }
        m_group_of_node.assign(m_nodes, own_queue);
        for (const auto& [node, group] : group_of_node) m_group_of_node[node] = group;
        m_node_of_group = made.node_of_group;
        if (made.groups() > most_groups)
            throw transfer_error(status::invalid_value, "the policy locality: " + std::to_string(made.groups()) +
                                                            " nodes; at most " + std::to_string(most_groups));
        for (std::size_t node = 0; node < m_nodes; ++node)
            for (const auto from : m_node_of_group) m_distances_to.push_back(machine.distance(from, node));
        return made;
    }

    bool reads_footprints() const override { return m_node_of_group.size() > 1; }
    bool deals() const override { return m_node_of_group.size() > 1; }
    bool releases() const override { return m_rules.release; }

    unsigned deal(const deal_question& asked) const override {
        if (m_node_of_group.size() <= 1) return own_queue;
        if (m_rules.home_caches) {
            if (asked.coarse_bytes == 0) return own_queue; // Algorithm 3: p is coarse
            if (asked.most_used_node >= 0) return m_group_of_node[static_cast<unsigned>(asked.most_used_node)];
        }
        if (asked.bytes <= m_least_bytes) return own_queue;
        // Algorithm 1: the standard deviation of D is not 0. The same everywhere: no node is better.
        const auto [least, most] = std::minmax_element(asked.bytes_on_node.begin(), asked.bytes_on_node.end());
        if (*least == *most) return own_queue;
        const auto groups = m_node_of_group.size();
        std::array<double, most_groups> costs;
        if (m_rules.load_term)
            std::copy_n(asked.backlog.begin(), groups, costs.begin());
        else
            std::fill_n(costs.begin(), groups, 0.0);
        const auto add = [&](std::size_t node, std::uint64_t bytes) {
            const auto* const distances = m_distances_to.data() + node * groups;
            for (std::size_t group = 0; group < groups; ++group)
                costs[group] += static_cast<double>(bytes) * distances[group];
        };
        // As in Algorithm 3, the marked region stands for the task: its home first, unless the queue there is longer
        // than the way to another node. Algorithm 1 knows no mark.
        if (m_rules.load_term && asked.most_used_node >= 0)
            add(static_cast<std::size_t>(asked.most_used_node), asked.most_used_bytes);
        else
            for (std::size_t node = 0; node < m_nodes; ++node)
                if (asked.bytes_on_node[node] != 0) add(node, asked.bytes_on_node[node]);
        const auto best = static_cast<unsigned>(
            std::min_element(costs.begin(), costs.begin() + static_cast<std::ptrdiff_t>(groups)) - costs.begin());
        // Of equals the own group: nobody has to be woken.
        if (costs[asked.own_group] <= costs[best]) return asked.own_group;
        return best;
    }

  private:
    static constexpr std::size_t most_groups = 1024;
    [[nodiscard]] unsigned vicinity_of(unsigned tile) const {
        const auto size = m_rules.vicinity;
        if (size == 0 || size >= m_nodes) return 0;
        if (m_columns == 0) return tile / size;
        // Squares, or for 8 two rows of four.
        const unsigned width = size == 1 ? 1 : size == 4 ? 2 : 4, height = size / width;
        return tile / m_columns / height * m_columns + tile % m_columns / width;
    }

    const locality_rules m_rules;
    const std::size_t m_nodes;
    const unsigned m_columns;
    const std::uint64_t m_least_bytes;
    std::vector<unsigned> m_group_of_node, m_node_of_group;
    std::vector<double> m_distances_to; ///< of each node, from all groups
};

} // namespace

std::unique_ptr<policy> locality_policy(const topology::machine& machine, const locality_rules& rules) {
    return std::make_unique<locality>(machine, rules);
}

} // namespace causeway::tasks
