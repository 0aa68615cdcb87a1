// SPDX-License-Identifier: Apache-2.0
// The subcommand `perf`.
#pragma once

#include <CLI/App.hpp>

#include <functional>

namespace perf {

/// Adds the subcommand to `app`. The result runs it after parsing and returns the exit status, or throws usage_error.
std::function<int()> add_command(CLI::App& app);

} // namespace perf
