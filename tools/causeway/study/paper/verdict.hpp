// SPDX-License-Identifier: Apache-2.0
// Verdicts on the paper's findings: whether they hold on a device, and on several.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace paper {

/// One of several ways to do the same, measured twice.
struct measured_twice {
    double first = 0, second = 0;
};

/// One point of a figure.
struct row {
    std::string figure, device, series, x;
    double seconds = 0; ///< the lower quartile; 0 for counts
    double value = 0; ///< as the figure has it: throughput relative to the first of its series, a share, instructions
    measured_twice halves = {}; ///< the same throughput by every second run, and by the other runs
};
using rows = std::vector<row>;

struct verdict {
    std::string finding, word, figure; ///< the word: "holds", "holds in part" or "holds no more"
};

/// A device's name and its verdicts.
using judgement = std::pair<std::string, std::vector<verdict>>;

/// A verdict on each of the paper's seven findings, for one device; six for a GPU, which has no OpenMP beside it. The
/// limits are those of docs/study.md.
[[nodiscard]] std::vector<verdict> verdicts(const std::string& device, bool is_cpu, const rows& all);

/// True if the number at the end of an application's name, that of its elements, is a million or more.
[[nodiscard]] bool is_of_many_elements(const std::string& application);

/// The second value of the way whose first value is best; 0 if there is no way. (The best of several noisy first values
/// alone would exceed 1 even if all ways were alike.)
[[nodiscard]] double best_as_confirmed(const std::vector<measured_twice>& ways);

/// Joins the verdicts of several devices on the same findings. The word is the one that all have, or "differs by
/// driver"; the figure lists each device's word.
[[nodiscard]] std::vector<verdict> verdicts_of_all(const std::vector<judgement>& devices);

} // namespace paper
