// SPDX-License-Identifier: Apache-2.0
// Where the loader of OpenCL looks for implementations.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace causeway_tool {

/// What it goes by: OCL_ICD_VENDORS, else its default folder.
[[nodiscard]] std::string vendors_source();

/// The source, who names it, its implementations, and why those that cannot be loaded cannot.
[[nodiscard]] nlohmann::json facts_of_vendors();

} // namespace causeway_tool
