// SPDX-License-Identifier: Apache-2.0
// What repeated times say, on a machine that does other things as well.
#pragma once

#include <cstddef>
#include <vector>

namespace study {

[[nodiscard]] double median(std::vector<double> values);

struct spread {
    double median = 0, low = 0, high = 0; ///< quartiles of what is left without outliers
    std::size_t count = 0, outliers = 0;
};
/// Leaves out what is farther from the median than five times the median distance.
[[nodiscard]] spread summarize(const std::vector<double>& times);

/// How much faster the second is, of times that were taken in turn.
struct gain {
    double speedup = 1;       ///< the median of the ratios of pairs
    double low = 1, high = 1; ///< where it lies with 95 %, by the order of the ratios
    [[nodiscard]] const char* sureness() const; ///< "sure", "likely" or "not sure"
};
[[nodiscard]] gain compare(const std::vector<double>& before, const std::vector<double>& after);

} // namespace study
