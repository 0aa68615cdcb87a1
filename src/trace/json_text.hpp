// SPDX-License-Identifier: Apache-2.0
// Serialises all JSON of a timeline.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace causeway::trace {

/// Invalid UTF-8, as in file names that errors cite, becomes U+FFFD.
inline std::string json_text(const nlohmann::json& value) {
    return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

} // namespace causeway::trace
