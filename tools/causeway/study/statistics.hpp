// SPDX-License-Identifier: Apache-2.0
// Statistics of repeated times on a machine that runs other programs, too.
#pragma once

#include <cstddef>
#include <vector>

namespace study {

[[nodiscard]] double median(std::vector<double> values);

struct spread {
    double median = 0, low = 0, high = 0; ///< low and high: quartiles; all without outliers
    std::size_t count = 0, outliers = 0;
};
/// Outliers are farther from the median than five times the median of all such distances.
[[nodiscard]] spread summarize(const std::vector<double>& times);

/// The speedup between two series of times that were taken in turn, as pairs.
struct gain {
    double speedup = 1;       ///< the median of the ratios of pairs
    double low = 1, high = 1; ///< its 95 % confidence interval, by order statistics of the ratios
    [[nodiscard]] const char* sureness() const; ///< "sure", "likely" or "not sure"
};
[[nodiscard]] gain compare(const std::vector<double>& before, const std::vector<double>& after);

} // namespace study
