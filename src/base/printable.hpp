// SPDX-License-Identifier: Apache-2.0
// Names of others (files, hosts, kernels, devices) on their way to a terminal.
#pragma once

#include <string>
#include <string_view>

namespace causeway {

/// UTF-8 text whose control characters, which terminals obey, are written out: "\x1b[2J", "\n" as "\x0a". `kept` stay.
[[nodiscard]] std::string printable(std::string_view text, std::string_view kept = "");

} // namespace causeway
