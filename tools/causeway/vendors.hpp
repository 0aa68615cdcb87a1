// SPDX-License-Identifier: Apache-2.0
// Where the loader of OpenCL looks for implementations.
#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace causeway_tool {

/// Where the loader looks: OCL_ICD_VENDORS, else its default folder.
[[nodiscard]] std::string vendors_source();

/// Environment changes (name, value; no value: unset) by which a program sees only the platform Causeway, while that
/// platform sees the drivers that the loader would have found.
[[nodiscard]] std::vector<std::pair<std::string, std::optional<std::string>>> environment_of_platform_alone();

/// The source, who names it, its implementations, and why those that cannot be loaded cannot.
[[nodiscard]] nlohmann::json facts_of_vendors();

} // namespace causeway_tool
