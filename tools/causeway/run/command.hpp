// SPDX-License-Identifier: Apache-2.0
// `causeway run`: its options.
#pragma once

#include <CLI/App.hpp>

#include <functional>
#include <string>
#include <vector>

namespace run {

/// Adds the subcommand. Returns a function that runs it after parsing, with the words after the subcommand's own, and
/// returns the exit status.
std::function<int(const std::vector<std::string>& program)> add_command(CLI::App& app);

} // namespace run
