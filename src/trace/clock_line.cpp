// SPDX-License-Identifier: Apache-2.0
// Keeps the narrowest bounds of each second.
#include "trace/clock_line.hpp"

#include <algorithm>

namespace causeway::trace {

namespace {
constexpr std::int64_t second = 1'000'000'000;
}

void clock_line::add(std::int64_t when, std::int64_t least, std::int64_t most) {
    if (most < least) std::swap(least, most);
    if (!m_points.empty() && when - m_points.back().when < second) {
        if (most - least < m_points.back().most - m_points.back().least) m_points.back() = {when, least, most};
        return;
    }
    m_points.push_back({when, least, most});
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
