// SPDX-License-Identifier: Apache-2.0
// base/printable.hpp, for parts of the program whose headers' names clash with the library's.
#pragma once

#include <string>
#include <string_view>

namespace causeway_tool {

/// The text without control characters that a terminal would act on, except those in `kept`.
std::string printable(std::string_view text, std::string_view kept = "");

} // namespace causeway_tool
