// SPDX-License-Identifier: Apache-2.0
// The subcommand `causeway tasks`.
#pragma once

#include <CLI/App.hpp>

#include <functional>

namespace tasks {

/// Adds the subcommand; the result runs it and returns the exit status.
[[nodiscard]] std::function<int()> add_command(CLI::App& app);

} // namespace tasks
