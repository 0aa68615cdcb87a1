// SPDX-License-Identifier: Apache-2.0
// Names of others (files, hosts, kernels, devices) on their way to a terminal.
#pragma once

#include <string>
#include <string_view>

namespace causeway {

/// `text` as UTF-8 with all that a terminal would not show as a character escaped: control characters ("\x1b", "\x0a"),
/// bidirectional controls, invalid bytes. Those in `kept` stay.
[[nodiscard]] std::string printable(std::string_view text, std::string_view kept = "");

} // namespace causeway
