// SPDX-License-Identifier: Apache-2.0
// Median and quartiles of a few measurements.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace apps {

struct quartiles {
    double lower, median, upper;
};

/// Interpolates linearly between measurements. `values` must not be empty.
inline quartiles quartiles_of(std::vector<double> values)
{
    std::ranges::sort(values);
    const auto at = [&](double share) {
        const double position = share * double(values.size() - 1);
        const auto below = std::size_t(position);
        const auto above = std::min(below + 1, values.size() - 1);
        return std::lerp(values[below], values[above], position - double(below));
    };
    return {at(0.25), at(0.5), at(0.75)};
}

} // namespace apps
