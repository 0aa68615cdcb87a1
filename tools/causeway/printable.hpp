// SPDX-License-Identifier: Apache-2.0
// base/printable.hpp for the parts of the program whose headers have names of the library's.
#pragma once

#include <string>
#include <string_view>

namespace causeway_tool {

/// The text without what a terminal would obey, but for the characters of `kept`.
std::string printable(std::string_view text, std::string_view kept = "");

} // namespace causeway_tool
