// SPDX-License-Identifier: Apache-2.0
// Finds the known word that a mistyped one probably means.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace causeway {

/// The word of `known` that `wrong` is nearest to, or "" if none is near.
[[nodiscard]] std::string nearest_word(std::string_view wrong, std::span<const std::string> known);

} // namespace causeway
