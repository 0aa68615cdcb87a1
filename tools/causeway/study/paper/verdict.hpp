// SPDX-License-Identifier: Apache-2.0
// What becomes of the paper's findings on a device, and on several.
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

/// Of several devices, whose findings are the same ones: the word that all have, or "differs by driver"; the figure is
/// each one's word.
[[nodiscard]] std::vector<verdict> verdicts_of_all(const std::vector<judgement>& devices);

} // namespace paper
