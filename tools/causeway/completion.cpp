// SPDX-License-Identifier: Apache-2.0
// Writes completion scripts from the options that there are, so that they cannot differ.
#include "completion.hpp"

#include "words.hpp"

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace completion {

namespace {

const char* const teaching = R"(Examples:
  source <(causeway completion bash)
  causeway completion zsh > ~/.zfunc/_causeway
  causeway completion fish > ~/.config/fish/completions/causeway.fish

make install puts all three where shells look for them.

Exit status: 0, 2 for wrong arguments.)";

std::vector<std::string> options_of(const CLI::App& app) {
    std::vector<std::string> names;
    for (const auto* each : app.get_options())
        for (const auto& name : each->get_lnames()) names.push_back("--" + name);
    return names;
}

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

/// A text inside single quotes.
std::string inside_quotes(std::string text) {
    for (std::size_t at = text.find('\''); at != std::string::npos; at = text.find('\'', at + 1)) text.erase(at, 1);
    return text;
}

std::string for_bash(const CLI::App& app) {
    std::string cases;
    for (const auto* each : commands_of(app)) {
        auto words = joined(options_of(*each));
        if (const auto inner = names_of(*each); !inner.empty()) words += " " + inner;
        cases += "        " + each->get_name() + ") words='" + words + "' ;;\n";
    }
    return "# Completion of causeway for bash; made by causeway completion bash.\n"
           "_causeway() {\n"
           "    local word=${COMP_WORDS[COMP_CWORD]} command= words= each\n"
           "    for each in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
           "        [ \"$each\" = -- ] && { COMPREPLY=($(compgen -c -f -- \"$word\")); return; }\n"
           "        case $each in -*) ;; *) [ -n \"$command\" ] || command=$each ;; esac\n"
           "    done\n"
           "    case $command in\n"
           "        '') words='" + names_of(app) + " " + joined(options_of(app)) + "' ;;\n" + cases +
           "    esac\n"
           "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
           "    [ \"${#COMPREPLY[@]}\" -gt 0 ] || COMPREPLY=($(compgen -f -- \"$word\"))\n"
           "}\n"
           "complete -o filenames -F _causeway causeway\n";
}

std::string for_zsh(const CLI::App& app) {
    std::string commands, cases;
    for (const auto* each : commands_of(app)) {
        commands += "        '" + each->get_name() + ":" + inside_quotes(each->get_description()) + "'\n";
        std::string words;
        for (const auto* option : each->get_options())
            for (const auto& name : option->get_lnames())
                words += " '--" + name + "[" + inside_quotes(option->get_description()) + "]'";
        cases += "        " + each->get_name() + ") _arguments" + words + " '*:file:_files' ;;\n";
    }
    return "#compdef causeway\n# Completion of causeway for zsh; made by causeway completion zsh.\n"
           "_causeway() {\n"
           "    local -a commands=(\n" + commands + "    )\n"
           "    if (( CURRENT == 2 )); then\n        _describe command commands\n        return\n    fi\n"
           "    case $words[2] in\n" + cases + "    esac\n}\n_causeway \"$@\"\n";
}

std::string for_fish(const CLI::App& app) {
    std::string text = "# Completion of causeway for fish; made by causeway completion fish.\n"
                       "complete -c causeway -n __fish_use_subcommand -l help -d 'say what there is'\n";
    for (const auto* each : commands_of(app)) {
        text += "complete -c causeway -n __fish_use_subcommand -f -a " + each->get_name() + " -d '" +
                inside_quotes(each->get_description()) + "'\n";
        for (const auto* option : each->get_options())
            for (const auto& name : option->get_lnames())
                text += "complete -c causeway -n '__fish_seen_subcommand_from " + each->get_name() + "' -l " + name + " -d '" +
                        inside_quotes(option->get_description()) + "'\n";
        for (const auto* inner : commands_of(*each))
            text += "complete -c causeway -n '__fish_seen_subcommand_from " + each->get_name() + "' -a " + inner->get_name() +
                    " -d '" + inside_quotes(inner->get_description()) + "'\n";
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
        if (*shell == "bash") text = for_bash(app);
        else if (*shell == "zsh") text = for_zsh(app);
        else if (*shell == "fish") text = for_fish(app);
        else throw causeway_tool::usage_error("completion: no shell " + *shell + causeway_tool::suggestion(*shell, known) +
                                              " (bash, zsh and fish are known)");
        std::fputs(text.c_str(), stdout);
        return 0;
    };
}

} // namespace completion
