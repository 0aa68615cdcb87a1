// SPDX-License-Identifier: Apache-2.0
// Where the loader of OpenCL looks for implementations.
#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace causeway_tool {

/// What it goes by: OCL_ICD_VENDORS, else its default folder.
[[nodiscard]] std::string vendors_source();

/// What a program is to find in its environment so that it sees the platform Causeway alone, and that one the drivers
/// which the loader would have found: names and values. No value: the name is to be removed.
[[nodiscard]] std::vector<std::pair<std::string, std::optional<std::string>>> environment_of_platform_alone();

/// The source, who names it, its implementations, and why those that cannot be loaded cannot.
[[nodiscard]] nlohmann::json facts_of_vendors();

} // namespace causeway_tool
