// SPDX-License-Identifier: Apache-2.0
// Writes manual pages from the help that there is, so that they cannot differ.
#include "man_page.hpp"

#include <causeway/causeway.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace man_page {

namespace {

/// A line as man(7) takes it: nothing in it is a request or an escape, and its hyphens are those of options.
std::string escaped(const std::string& line) {
    std::string text = line.starts_with('.') || line.starts_with('\'') ? "\\&" : "";
    for (const char letter : line) {
        if (letter == '\\' || letter == '-') text += '\\';
        text += letter == '\\' ? 'e' : letter;
    }
    return text;
}

std::string lines_of(const std::string& text) {
    std::istringstream from(text);
    std::string lines;
    for (std::string each; std::getline(from, each);) lines += escaped(each) + "\n";
    return lines;
}

/// What stands below a command's options: the examples, whose lines stay lines, the exit status, and all the rest.
struct explanation {
    std::string text, examples, status;

    explicit explanation(const std::string& footer) {
        for (std::size_t begin = 0, end = 0; begin < footer.size(); begin = end + 2) {
            end = std::min(footer.find("\n\n", begin), footer.size());
            const auto paragraph = footer.substr(begin, end - begin);
            if (const std::string heading = "Examples:\n"; paragraph.starts_with(heading))
                examples = ".SH EXAMPLES\n.nf\n" + lines_of(paragraph.substr(heading.size())) + ".fi\n";
            else if (const std::string heading = "Exit status: "; paragraph.starts_with(heading))
                status = ".SH EXIT STATUS\n" + lines_of(paragraph.substr(heading.size()));
            else
                text += (text.empty() ? "" : ".PP\n") + lines_of(paragraph);
        }
    }
};

std::string described(const CLI::Option& option) {
    const bool is_argument = option.get_positional();
    auto names = option.get_name(is_argument, !is_argument);
    // Behind the colon is how it is checked.
    if (const auto type = option.get_type_name(); !is_argument && !type.empty())
        names += " " + type.substr(0, type.find(':'));
    return ".TP\n.B " + escaped(names) + "\n" + lines_of(option.get_description());
}

std::string page_of(const CLI::App& command, const std::vector<std::string>& words) {
    std::string name = "causeway", typed = name;
    for (const auto& each : words) {
        name += "-" + each;
        typed += " " + each;
    }
    std::string synopsis = ".B " + escaped(typed) + "\n[\\fIoption\\fR]...\n", options, arguments;
    for (const auto* each : command.get_options()) {
        if (!each->get_positional()) {
            options += described(*each);
            continue;
        }
        arguments += described(*each);
        synopsis += "\\fI" + each->get_name(true) + "\\fR\n";
    }
    if (command.get_prefix_command()) synopsis += "[\\-\\-] \\fIprogram\\fR [\\fIargument\\fR]...\n";
    std::string others = ".BR causeway (1)";
    for (const auto* each : command.get_subcommands([](const CLI::App*) { return true; }))
        others += ",\n.BR " + escaped(name + "-" + each->get_name()) + " (1)";
    const explanation more(command.get_footer());
    return ".\\\" Made by causeway man-page.\n.TH " + escaped(name) + " 1 \"\" \"causeway " + causeway_version() +
           "\"\n.SH NAME\n" + escaped(name) + " \\- " + escaped(command.get_description()) + "\n.SH SYNOPSIS\n" +
           synopsis + ".SH DESCRIPTION\n" + more.text + (arguments.empty() ? "" : ".SH ARGUMENTS\n" + arguments) +
           ".SH OPTIONS\n" + options + more.examples + more.status + ".SH SEE ALSO\n" + others + "\n";
}

} // namespace

std::function<int()> add_command(CLI::App& app) {
    auto* const command = app.add_subcommand("man-page", "print the manual page of a command");
    command->group("");
    const auto words = std::make_shared<std::vector<std::string>>();
    command->add_option("command", *words, "the command, as in: causeway man-page trace view")->required();
    return [&app, words] {
        const CLI::App* command = &app;
        for (const auto& each : *words) command = command->get_subcommand(each);
        std::fputs(page_of(*command, *words).c_str(), stdout);
        return 0;
    };
}

} // namespace man_page
