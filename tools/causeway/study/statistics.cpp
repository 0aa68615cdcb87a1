// SPDX-License-Identifier: Apache-2.0
// Medians and their order statistics: nothing is supposed of how times are spread.
#include "study/statistics.hpp"

#include <algorithm>
#include <cmath>

namespace study {

namespace {

double quantile(const std::vector<double>& sorted, double at) {
    if (sorted.empty()) return 0;
    const auto position = at * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(position);
    const auto above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

} // namespace

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return quantile(values, 0.5);
}

spread summarize(const std::vector<double>& times) {
    const auto middle = median(times);
    std::vector<double> distances;
    for (const double each : times) distances.push_back(std::abs(each - middle));
    const auto usual = std::max(median(distances), 0.01 * middle);
    std::vector<double> kept;
    for (const double each : times)
        if (std::abs(each - middle) <= 5 * usual) kept.push_back(each);
    std::sort(kept.begin(), kept.end());
    return {quantile(kept, 0.5), quantile(kept, 0.25), quantile(kept, 0.75), kept.size(), times.size() - kept.size()};
}

gain compare(const std::vector<double>& before, const std::vector<double>& after) {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < std::min(before.size(), after.size()); ++i)
        if (after[i] > 0) ratios.push_back(before[i] / after[i]);
    if (ratios.empty()) return {1, 0, INFINITY};
    std::sort(ratios.begin(), ratios.end());
    const auto count = static_cast<double>(ratios.size());
    // The ranks between which the median lies with 95 %, by the normal approximation of the sign test.
    const auto off = static_cast<std::size_t>(std::max(0., std::floor((count - 1.96 * std::sqrt(count)) / 2)));
    return {quantile(ratios, 0.5), ratios[std::min(off, ratios.size() - 1)],
            ratios[ratios.size() - 1 - std::min(off, ratios.size() - 1)]};
}

const char* gain::sureness() const {
    if (low > 1.03) return "sure";
    return low > 1 ? "likely" : "not sure";
}

} // namespace study
