// SPDX-License-Identifier: Apache-2.0
// Verdicts on the paper's findings: whether they hold on a device, and on several.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace paper {

struct verdict {
    std::string finding, word, figure; ///< the word: "holds", "holds in part" or "holds no more"
};

/// A device's name and its verdicts.
using judgement = std::pair<std::string, std::vector<verdict>>;

/// True if the number at the end of an application's name, that of its elements, is a million or more.
[[nodiscard]] bool is_of_many_elements(const std::string& application);

/// One of several ways to do the same, measured twice.
struct measured_twice {
    double first = 0, second = 0;
};
/// What the way that is best by its first measurement has in its second; 0 where there is none. The best of several
/// noisy values by themselves is above 1 also where all ways are alike.
[[nodiscard]] double best_as_confirmed(const std::vector<measured_twice>& ways);

/// Joins the verdicts of several devices on the same findings. The word is the one that all have, or "differs by
/// driver"; the figure lists each device's word.
[[nodiscard]] std::vector<verdict> verdicts_of_all(const std::vector<judgement>& devices);

} // namespace paper
