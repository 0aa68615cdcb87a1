// SPDX-License-Identifier: Apache-2.0
// What a study teaches: for each finding a sentence, its figure, what to change, and what that gains.
#pragma once

#include <nlohmann/json.hpp>

namespace study {

/// Of one process, and of its launches that were done again: "sentence", "figure", "change", "gain" in seconds, "share"
/// of the wall time, "sure"; the largest gain first. What gains nothing but has to be known comes last.
[[nodiscard]] nlohmann::json findings_of(const nlohmann::json& process, const nlohmann::json& launches,
                                         const nlohmann::json& machine);

} // namespace study
