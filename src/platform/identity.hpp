// SPDX-License-Identifier: Apache-2.0
// What the platform says of itself. Constants: loaders ask while they start up.
#pragma once

#include <string_view>

namespace causeway::platform::identity {

inline constexpr std::string_view name = "Causeway";
inline constexpr std::string_view vendor = "The Causeway project";
inline constexpr std::string_view version = "OpenCL 1.2 Causeway";
inline constexpr std::string_view profile = "FULL_PROFILE";
inline constexpr std::string_view extensions = "cl_khr_icd";
inline constexpr std::string_view icd_suffix = "CWAY";

} // namespace causeway::platform::identity
