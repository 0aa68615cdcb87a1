// SPDX-License-Identifier: Apache-2.0
// `causeway trace`: its options.
#pragma once

#include <CLI/App.hpp>

#include <functional>
#include <string>
#include <vector>

namespace trace {

/// Adds the subcommand. What it gives runs it once the arguments are parsed, with the words behind its own, and gives
/// the exit status.
std::function<int(const std::vector<std::string>& program)> add_command(CLI::App& app);

} // namespace trace
