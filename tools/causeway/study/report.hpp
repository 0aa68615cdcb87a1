// SPDX-License-Identifier: Apache-2.0
// Tables of a study.
#pragma once

#include <nlohmann/json.hpp>

namespace study {

/// Prints a study as causeway study writes it.
void print(const nlohmann::json& study);

} // namespace study
