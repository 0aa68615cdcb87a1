// SPDX-License-Identifier: Apache-2.0
// How all text of a timeline is written.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace causeway::trace {

/// File names, which errors cite, are bytes to the system: what is no UTF-8 in them becomes U+FFFD.
inline std::string json_text(const nlohmann::json& value) {
    return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

} // namespace causeway::trace
