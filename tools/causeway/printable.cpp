// SPDX-License-Identifier: Apache-2.0
// Hands on to the library.
#include "printable.hpp"

#include "base/printable.hpp"

namespace causeway_tool {

std::string printable(std::string_view text, std::string_view kept) { return causeway::printable(text, kept); }

} // namespace causeway_tool
