// SPDX-License-Identifier: Apache-2.0
// `causeway man-page`, for the build: the manual pages of the commands.
#pragma once

#include <CLI/App.hpp>

#include <functional>

namespace man_page {

/// Adds the subcommand, which --help does not list, after all others. Returns a function that runs it once the
/// arguments are parsed, and returns the exit status.
std::function<int()> add_command(CLI::App& app);

} // namespace man_page
