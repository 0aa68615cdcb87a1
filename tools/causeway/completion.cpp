// SPDX-License-Identifier: Apache-2.0
// Writes completion scripts from the options that there are, so that they cannot differ.
#include "completion.hpp"

#include "command_line.hpp"
#include "words.hpp"

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace completion {

namespace {

using causeway_tool::options_of;

const char* const teaching = R"(Examples:
  source <(causeway completion bash)
  causeway completion zsh > ~/.zfunc/_causeway
  causeway completion fish > ~/.config/fish/completions/causeway.fish

make install puts all three where shells look for them.

Exit status: 0, 2 for wrong arguments.)";

std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const auto& each : words) text += (text.empty() ? "" : " ") + each;
    return text;
}

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
    const auto found = app.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); });
    return {found.begin(), found.end()};
}

std::string names_of(const CLI::App& app) {
    std::vector<std::string> names;
    for (const auto* each : commands_of(app)) names.push_back(each->get_name());
    return joined(names);
}

/// A command and what is typed for it: "trace", "trace view".
struct typed_command {
    std::string words;
    const CLI::App* command;
};

/// Each with those of its own behind it.
std::vector<typed_command> all_commands_of(const CLI::App& app) {
    std::vector<typed_command> all;
    for (const auto* each : commands_of(app)) {
        all.push_back({each->get_name(), each});
        for (const auto* inner : commands_of(*each)) all.push_back({each->get_name() + " " + inner->get_name(), inner});
    }
    return all;
}

/// A text inside single quotes.
std::string inside_quotes(std::string text) {
    for (std::size_t at = text.find('\''); at != std::string::npos; at = text.find('\'', at + 1)) text.erase(at, 1);
    return text;
}

std::string for_bash(const CLI::App& app) {
    std::string known, cases;
    for (const auto& [words, command] : all_commands_of(app)) {
        known += (known.empty() ? "'" : " | '") + words + "'";
        cases += "        '" + words + "') words='" + joined(options_of(*command)) + " " + names_of(*command) +
                 "' ;;\n";
    }
    return "# Completion of causeway for bash; made by causeway completion bash.\n"
           "_causeway() {\n"
           "    local word=${COMP_WORDS[COMP_CWORD]} command= words= each\n"
           "    for each in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
           "        [ \"$each\" = -- ] && { COMPREPLY=($(compgen -c -f -- \"$word\")); return; }\n"
           "        case \"${command:+$command }$each\" in " +
           known +
           ") command=\"${command:+$command }$each\" ;; esac\n"
           "    done\n"
           "    case $command in\n"
           "        '') words='" +
           names_of(app) + " " + joined(options_of(app)) + "' ;;\n" + cases +
           "    esac\n"
           "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
           "    [ \"${#COMPREPLY[@]}\" -gt 0 ] || COMPREPLY=($(compgen -f -- \"$word\"))\n"
           "}\n"
           "complete -o filenames -F _causeway causeway\n";
}

/// As _describe takes them: a line each.
std::string described(const CLI::App& app) {
    std::string lines;
    for (const auto* each : commands_of(app))
        lines += "        '" + each->get_name() + ":" + inside_quotes(each->get_description()) + "'\n";
    return lines;
}

std::string for_zsh(const CLI::App& app) {
    std::string cases;
    for (const auto* each : commands_of(app)) {
        const auto inner = described(*each);
        if (!inner.empty())
            cases += "    (( CURRENT == 3 )) && [[ $words[2] == " + each->get_name() + " ]] && {\n    commands=(\n" +
                     inner + "    )\n" + "    _describe command commands\n    }\n";
    }
    cases += "    case \"$words[2] $words[3]\" in\n";
    const auto all = all_commands_of(app);
    // The longer words first: 'trace view' before trace with anything behind it.
    for (auto each = all.rbegin(); each != all.rend(); ++each) {
        std::string options;
        for (const auto* option : each->command->get_options())
            for (const auto& name : option->get_lnames())
                options += " '--" + name + "[" + inside_quotes(option->get_description()) + "]'";
        const bool is_inner = each->words.find(' ') != std::string::npos;
        cases += "        '" + each->words + (is_inner ? "'" : " '*") + ") _arguments" + options +
                 " '*:file:_files' ;;\n";
    }
    return "#compdef causeway\n# Completion of causeway for zsh; made by causeway completion zsh.\n"
           "_causeway() {\n"
           "    local -a commands=(\n" +
           described(app) +
           "    )\n"
           "    if (( CURRENT == 2 )); then\n        _describe command commands\n        return\n    fi\n" +
           cases + "    esac\n}\n_causeway \"$@\"\n";
}

std::string for_fish(const CLI::App& app) {
    std::string text = "# Completion of causeway for fish; made by causeway completion fish.\n"
                       "complete -c causeway -n __fish_use_subcommand -l help -d 'say what there is'\n";
    // `command` where the one condition holds, and its options where the other does.
    const auto add = [&](const CLI::App& command, const std::string& when, const std::string& then) {
        text += "complete -c causeway -n '" + when + "' -f -a " + command.get_name() + " -d '" +
                inside_quotes(command.get_description()) + "'\n";
        for (const auto* option : command.get_options())
            for (const auto& name : option->get_lnames())
                text += "complete -c causeway -n '" + then + "' -l " + name + " -d '" +
                        inside_quotes(option->get_description()) + "'\n";
    };
    const auto seen = [](const CLI::App& command) { return "__fish_seen_subcommand_from " + command.get_name(); };
    for (const auto* each : commands_of(app)) {
        const auto inner_names = names_of(*each);
        const auto itself = seen(*each) +
                            (inner_names.empty() ? "" : "; and not __fish_seen_subcommand_from " + inner_names);
        add(*each, "__fish_use_subcommand", itself);
        for (const auto* inner : commands_of(*each)) add(*inner, itself, seen(*each) + "; and " + seen(*inner));
    }
    return text;
}

} // namespace

std::function<int()> add_command(CLI::App& app) {
    auto* const command = app.add_subcommand("completion", "print a completion script for a shell");
    command->footer(teaching);
    command->allow_extras();
    const auto shell = std::make_shared<std::string>();
    command->add_option("shell", *shell, "bash, zsh or fish")->required()->type_name("SHELL");
    return [&app, shell] {
        const std::vector<std::string> known{"bash", "zsh", "fish"};
        std::string text;
        if (*shell == "bash")
            text = for_bash(app);
        else if (*shell == "zsh")
            text = for_zsh(app);
        else if (*shell == "fish")
            text = for_fish(app);
        else
            throw causeway_tool::usage_error("completion: no shell " + *shell +
                                             causeway_tool::suggestion(*shell, known) +
                                             " (bash, zsh and fish are known)");
        std::fputs(text.c_str(), stdout);
        return 0;
    };
}

} // namespace completion
