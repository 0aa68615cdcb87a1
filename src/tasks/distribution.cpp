// SPDX-License-Identifier: Apache-2.0
// Bytes per node of a range, without a look at each of its pages where a formula does.
#include "tasks/distribution.hpp"

#include <algorithm>

namespace causeway::tasks {

std::optional<distribution> distribution_of(std::string_view word) {
    if (word == "standard") return distribution::standard;
    if (word == "fine") return distribution::fine;
    if (word == "coarse") return distribution::coarse;
    if (word == "local") return distribution::local;
    return std::nullopt;
}

void extent::count(std::uintptr_t from, std::uint64_t size, std::uint64_t* counts) const {
    if (how != distribution::fine) {
        counts[node] += size;
        return;
    }
    // Whole rounds give each node the same; what is left is less than one round.
    const auto end = from + size, round = unit * nodes, rounds = size / round;
    for (unsigned each = 0; rounds != 0 && each < nodes; ++each) counts[turns[each]] += rounds * unit;
    from += rounds * round;
    while (from < end) {
        const auto next = std::min<std::uintptr_t>(end, (from / unit + 1) * unit);
        counts[turn_of(from)] += next - from;
        from = next;
    }
}

} // namespace causeway::tasks
