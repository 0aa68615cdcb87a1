// SPDX-License-Identifier: Apache-2.0
// What `causeway info` found, as text on the standard output.
#pragma once

#include "info/checks.hpp"

#include <nlohmann/json.hpp>

#include <vector>

namespace info {

/// Prints all facts; what ranks have in common is printed once.
void print(const nlohmann::json& facts);

/// Every option of the ranks, its value, where that came from, and what it does.
void print_options(const nlohmann::json& ranks);

/// Each with what to do about it.
void print_problems(const std::vector<problem>& problems);

} // namespace info
