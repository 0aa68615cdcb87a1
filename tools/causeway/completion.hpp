// SPDX-License-Identifier: Apache-2.0
// `causeway completion`: what shells need to complete its words.
#pragma once

#include <CLI/App.hpp>

#include <functional>

namespace completion {

/// Adds the subcommand, which knows those that `app` has when it runs.
std::function<int()> add_command(CLI::App& app);

} // namespace completion
