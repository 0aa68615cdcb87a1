// SPDX-License-Identifier: Apache-2.0
// What is wrong with a set-up, and what to do about it.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace info {

struct problem {
    enum class weight { stops, slows } how = weight::stops; ///< what it does to transfers
    std::string what, advice;
};

/// Problems found in `facts`, the output of `causeway info --json`.
[[nodiscard]] std::vector<problem> problems_of(const nlohmann::json& facts);

} // namespace info
