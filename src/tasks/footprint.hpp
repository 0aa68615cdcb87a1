// SPDX-License-Identifier: Apache-2.0
// How many bytes of a task's regions lie on each node (D in the paper's algorithms).
#pragma once

#include "tasks/address_map.hpp"
#include "tasks/policy.hpp"
#include "tasks/region.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace causeway::tasks {

/// Reuse one object, so that its vector is not allocated for each task.
struct footprint {
    std::vector<std::uint64_t> bytes_on_node;
    std::uint64_t bytes = 0, coarse_bytes = 0, most_used_bytes = 0;
    int most_used_node = -1;

    void measure(const address_map& addresses, std::span<const region> regions, std::size_t nodes) {
        bytes_on_node.assign(nodes, 0);
        bytes = coarse_bytes = most_used_bytes = 0;
        most_used_node = -1;
        for (const auto& each : regions) {
            extent known;
            if (addresses.find(each.begin, known) &&
                (known.how == distribution::coarse || known.how == distribution::local) &&
                each.bytes <= known.begin + known.bytes - each.begin) {
                bytes_on_node[known.node] += each.bytes;
                bytes += each.bytes;
                coarse_bytes += each.bytes;
                if (each.most_used) {
                    most_used_node = static_cast<int>(known.node);
                    most_used_bytes = each.bytes;
                }
            } else {
                bytes += each.bytes - addresses.count(each, bytes_on_node.data());
            }
        }
    }
    [[nodiscard]] deal_question question(unsigned own_group, std::span<const double> backlog) const {
        return {bytes_on_node, bytes, coarse_bytes, most_used_node, own_group, backlog, most_used_bytes};
    }
    /// Distance-weighted bytes, as seen from `node`.
    [[nodiscard]] double cost_from(const topology::machine& machine, unsigned node) const {
        double cost = 0;
        for (std::size_t each = 0; each < bytes_on_node.size(); ++each)
            cost += static_cast<double>(bytes_on_node[each]) * machine.distance(node, each);
        return cost;
    }
};

} // namespace causeway::tasks
