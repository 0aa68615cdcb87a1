// SPDX-License-Identifier: Apache-2.0
// `causeway completion`: prints shell completion scripts.
#pragma once

#include <CLI/App.hpp>

#include <functional>

namespace completion {

/// Adds the subcommand, which completes the subcommands that `app` has when it runs.
std::function<int()> add_command(CLI::App& app);

} // namespace completion
