// SPDX-License-Identifier: Apache-2.0
// Names of others (files, hosts, kernels, devices) on their way to a terminal.
#pragma once

#include <string>
#include <string_view>

namespace causeway {

/// UTF-8 text in which all that terminals obey and do not show is written out: "\x1b[2J", "\n" as "\x0a", what turns
/// the order of letters, bytes that are no character. `kept` stay.
[[nodiscard]] std::string printable(std::string_view text, std::string_view kept = "");

} // namespace causeway
