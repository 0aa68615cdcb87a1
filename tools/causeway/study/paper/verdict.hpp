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

/// Joins the verdicts of several devices on the same findings. The word is the one that all have, or "differs by
/// driver"; the figure lists each device's word.
[[nodiscard]] std::vector<verdict> verdicts_of_all(const std::vector<judgement>& devices);

} // namespace paper
