// SPDX-License-Identifier: Apache-2.0
// The subcommand `causeway tune`.
#pragma once

#include <CLI/App.hpp>

#include <functional>

namespace tune {

/// Adds the subcommand; the result runs it and returns the exit status.
[[nodiscard]] std::function<int()> add_command(CLI::App& app);

} // namespace tune
