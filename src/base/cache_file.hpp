// SPDX-License-Identifier: Apache-2.0
// Where what is known of a machine outlives the process.
#pragma once

#include <string>
#include <string_view>

namespace causeway {

/// The path of `name` below $XDG_CACHE_HOME or ~/.cache, as the variables of the process say; empty without either.
[[nodiscard]] std::string cache_file(std::string_view name);

} // namespace causeway
