// SPDX-License-Identifier: Apache-2.0
// Numbers as texts: "1.25 ms", "64 KiB", "1024 x 16"; and faults.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace study {

[[nodiscard]] std::string time_text(double seconds);
[[nodiscard]] std::string bytes_text(double bytes);
/// Of a list of sizes.
[[nodiscard]] std::string shape_text(const nlohmann::json& sizes);
/// Of {"fault": ..., "object": number, "signal": number}, as a replay tells it.
[[nodiscard]] std::string fault_text(const nlohmann::json& fault);

} // namespace study
