// SPDX-License-Identifier: Apache-2.0
// A study as one page for a browser.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace study {

/// Writes `path`: study_page.html with the study inside; needs nothing else, and no network. Throws std::runtime_error.
void write_page(const nlohmann::json& study, const std::string& path);

} // namespace study
