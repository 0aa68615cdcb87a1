// SPDX-License-Identifier: Apache-2.0
// The subcommand `perf`.
#pragma once

#include <CLI/App.hpp>

#include <functional>

namespace perf {

/// Adds the subcommand to `app`. The function that is returned runs it, when `app` has parsed the arguments, and gives
/// the exit status; it throws usage_error for what cannot be done.
std::function<int()> add_command(CLI::App& app);

} // namespace perf
