// SPDX-License-Identifier: Apache-2.0
// Median and quartiles of a few measurements.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace apps {

struct quartiles {
    double lower, median, upper;
};

/// Interpolates linearly between measurements. `values` must not be empty.
inline quartiles quartiles_of(std::vector<double> values) {
    std::ranges::sort(values);
    const auto at = [&](double share) {
        const double position = share * double(values.size() - 1);
        const auto below = std::size_t(position);
        const auto above = std::min(below + 1, values.size() - 1);
        return std::lerp(values[below], values[above], position - double(below));
    };
    return {at(0.25), at(0.5), at(0.75)};
}

/// The median of `one[i] / other[i]`: on a machine that others use too, what was timed side by side is compared.
inline double median_ratio(const std::vector<double>& one, const std::vector<double>& other) {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < one.size(); ++i) ratios.push_back(one[i] / other[i]);
    return quartiles_of(std::move(ratios)).median;
}

} // namespace apps
