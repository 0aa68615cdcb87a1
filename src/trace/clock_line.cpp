// SPDX-License-Identifier: Apache-2.0
// Keeps the narrowest bounds of each second, of a long time those of several.
#include "trace/clock_line.hpp"

#include <algorithm>
#include <utility>

namespace causeway::trace {

namespace {
constexpr std::size_t most_points = 128;
}

void clock_line::add(std::int64_t when, std::int64_t least, std::int64_t most) {
    insert({when, std::min(least, most), std::max(least, most)});
    while (m_points.size() > most_points) {
        m_spacing *= 2;
        for (const auto& each : std::exchange(m_points, {})) insert(each);
    }
}

void clock_line::insert(const point& seen) {
    if (m_points.empty() || seen.when - m_points.back().when >= m_spacing) {
        m_points.push_back(seen);
    } else if (seen.most - seen.least < m_points.back().most - m_points.back().least) {
        m_points.back() = seen;
    }
}

std::int64_t clock_line::difference_at(std::int64_t when) const {
    if (m_points.empty()) return 0;
    const auto after = std::upper_bound(m_points.begin(), m_points.end(), when,
                                        [](std::int64_t time, const point& each) { return time < each.when; });
    if (after == m_points.begin()) return after->middle();
    const auto& before = *(after - 1);
    if (after == m_points.end()) return before.middle();
    const double share = static_cast<double>(when - before.when) / static_cast<double>(after->when - before.when);
    return before.middle() + static_cast<std::int64_t>(share * static_cast<double>(after->middle() - before.middle()));
}

std::int64_t clock_line::uncertainty() const {
    std::int64_t widest = 0;
    for (const auto& each : m_points) widest = std::max(widest, (each.most - each.least) / 2);
    return widest;
}

} // namespace causeway::trace
