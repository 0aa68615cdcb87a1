// SPDX-License-Identifier: Apache-2.0
// What was typed: words for this program, and the program that `causeway run` and `causeway trace` start, with its own.
#pragma once

#include <CLI/App.hpp>

#include <string>
#include <vector>

namespace causeway_tool {

struct command_line {
    std::vector<std::string> own; ///< what is ours to parse
    std::vector<std::string> program; ///< a program and its words, untouched; empty for commands that start none
};

/// Splits `words`. After a command of `app` that takes a program (prefix_command), the program begins at the first word
/// that is no option, option's value or subcommand, or after the first --.
[[nodiscard]] command_line split(const CLI::App& app, const std::vector<std::string>& words);

/// "--ranks": each option's long name.
[[nodiscard]] std::vector<std::string> options_of(const CLI::App& app);

} // namespace causeway_tool
