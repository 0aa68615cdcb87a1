// SPDX-License-Identifier: Apache-2.0
// `causeway info`: its options.
#pragma once

#include <CLI/App.hpp>

#include <functional>

namespace info {

/// Adds the subcommand; the result runs it and returns the exit status.
std::function<int()> add_command(CLI::App& app);

} // namespace info
