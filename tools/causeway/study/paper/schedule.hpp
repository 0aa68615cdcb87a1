// SPDX-License-Identifier: Apache-2.0
// The launches behind figures 8 to 21: items per work-item, chains, and work-group sizes.
#pragma once

#include "study/paper/device.hpp"

namespace paper {

/// One launch, a point of a series.
struct scheduled {
    std::string figure, x;
    application of;
    shape global, local; ///< local is empty where the driver chooses
    std::string options; ///< of its build
    [[nodiscard]] bool is_of_items() const { return figure == "8" || figure == "11"; }
};

/// The launches of those applications that are in `all`, series by series.
[[nodiscard]] std::vector<scheduled> schedule(const std::vector<application>& all);

[[nodiscard]] bool is_parboil(const application& of);

/// An entry of the paper's tables 3 to 6: what is launched, and in which sizes.
struct entry {
    std::string table, application, column, text;
};
[[nodiscard]] std::vector<entry> tables();

} // namespace paper
