// SPDX-License-Identifier: Apache-2.0
// Finds where a program begins, before CLI11 takes its words for ours.
#include "command_line.hpp"

#include <algorithm>

namespace causeway_tool {

namespace {

/// "--ranks" and "-n" have their value in the next word, "--ranks=2" and "-n2" have it already.
bool takes_next_word(const CLI::App& command, const std::string& word) {
    if (word.starts_with("--") ? word.find('=') != std::string::npos : word.size() > 2) return false;
    const auto* const option = command.get_option_no_throw(word);
    return option != nullptr && option->get_items_expected_min() > 0;
}

const CLI::App* command_of(const CLI::App& app, const std::string& name) {
    const auto found = app.get_subcommands([&](const CLI::App* each) { return each->get_name() == name; });
    return found.empty() ? nullptr : found.front();
}

} // namespace

command_line split(const CLI::App& app, const std::vector<std::string>& words) {
    const auto name = std::find_if(words.begin(), words.end(),
                                   [](const std::string& word) { return !word.starts_with('-'); });
    const auto* const command = name == words.end() ? nullptr : command_of(app, *name);
    if (command == nullptr || !command->get_prefix_command()) return {words, {}};
    command_line typed{{words.begin(), name + 1}, {}};
    for (auto at = name + 1; at != words.end(); ++at) {
        if (at->starts_with('-') && *at != "--") {
            // As mpirun spells it; for CLI11 it is -n with the value p.
            const bool is_mpirun_s = *at == "-np" && command->get_option_no_throw("-n") != nullptr;
            typed.own.push_back(is_mpirun_s ? "-n" : *at);
            if (takes_next_word(*command, typed.own.back()) && at + 1 != words.end()) typed.own.push_back(*++at);
            continue;
        }
        if (command_of(*command, *at) != nullptr) return {words, {}}; // trace view
        typed.program.assign(*at == "--" ? at + 1 : at, words.end());
        break;
    }
    return typed;
}

std::vector<std::string> options_of(const CLI::App& app) {
    std::vector<std::string> names;
    for (const auto* each : app.get_options())
        for (const auto& name : each->get_lnames()) names.push_back("--" + name);
    return names;
}

} // namespace causeway_tool
