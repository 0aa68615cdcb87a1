// SPDX-License-Identifier: Apache-2.0
// Findings of a study: for each one a sentence, its figure, what to change, and what that gains.
#pragma once

#include <nlohmann/json.hpp>

namespace study {

/// Findings on one process and its replayed launches: "sentence", "figure", "change", "gain" in seconds, "share" of the
/// wall time, "sure"; the largest gain first, then findings without a gain.
[[nodiscard]] nlohmann::json findings_of(const nlohmann::json& process, const nlohmann::json& launches,
                                         const nlohmann::json& machine);

} // namespace study
