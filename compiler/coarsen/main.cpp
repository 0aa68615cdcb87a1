// SPDX-License-Identifier: Apache-2.0
// `coarsen`: OpenCL C in which each work-item of a kernel does what several did.
#include "kernel_text.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

const char* const
    usage = R"(usage: coarsen --kernel NAME --factor N --items COUNT [--order adjacent|interleaved] FILE [-- OPTION...]

Prints the source with a kernel NAME whose work-items do N of the COUNT items of the first dimension each: those beside each
other, or every (COUNT / N)th. Launch it with COUNT / N work-items in that dimension, rounded up. OPTION: -D, -U, -I, -cl-std.

Exit status: 0; 1 if the kernel's work-items wait for each other or know of their group, with the reason; 2 for wrong arguments.
)";

struct arguments {
    std::string kernel, file, order = "adjacent";
    unsigned long factor = 0, items = 0;
    std::vector<std::string> options;
};

bool parse(int count, char** words, arguments& typed) {
    for (int i = 1; i < count; ++i) {
        const std::string word = words[i];
        if (word == "--") {
            for (++i; i < count; ++i) typed.options.emplace_back(words[i]);
        } else if (word.starts_with("--") && i + 1 < count) {
            const std::string value = words[++i];
            if (word == "--kernel")
                typed.kernel = value;
            else if (word == "--order")
                typed.order = value;
            else if (word == "--factor")
                typed.factor = std::strtoul(value.c_str(), nullptr, 10);
            else if (word == "--items")
                typed.items = std::strtoul(value.c_str(), nullptr, 10);
            else
                return false;
        } else if (typed.file.empty() && !word.starts_with("-")) {
            typed.file = word;
        } else {
            return false;
        }
    }
    return !typed.kernel.empty() && !typed.file.empty() && typed.factor > 0 && typed.items > 0 &&
           (typed.order == "adjacent" || typed.order == "interleaved");
}

/// Those that change what the source says.
std::vector<std::string> language_options(const std::vector<std::string>& all) {
    std::vector<std::string> kept;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto& word = all[i];
        if (word == "-D" || word == "-I" || word == "-U") {
            if (i + 1 < all.size()) kept.push_back(word + all[++i]);
        } else if (word.starts_with("-D") || word.starts_with("-I") || word.starts_with("-U") ||
                   word.starts_with("-cl-std=")) {
            kept.push_back(word);
        }
    }
    return kept;
}

/// The kernel becomes a function of one item, in which OpenCL's questions are answered for the launch as it was; a
/// kernel of its name calls that in a loop. A macro is not expanded within itself.
std::string coarsened(const std::string& source, const coarsen::kernel_text& at, const arguments& typed) {
    const auto part = [&](std::size_t from, std::size_t to) { return source.substr(from, to - from); };
    const auto items = std::to_string(typed.items), factor = std::to_string(typed.factor);
    const auto parameters = part(at.parameters, at.parameters_end);
    const bool has_none = at.arguments.empty();
    std::string names;
    for (const auto& each : at.arguments) names += each + ", ";
    std::string text = part(0, at.begin);
    text += "\n#define get_global_id(d) ((d) == 0 ? causeway_item : get_global_id(d))\n"
            "#define get_global_size(d) ((d) == 0 ? (size_t)" +
            items +
            " : get_global_size(d))\n"
            "void causeway_one_" +
            typed.kernel + "(" + (has_none ? "" : parameters + ", ") + "size_t causeway_item) " +
            part(at.body, at.end) + "\n#undef get_global_id\n#undef get_global_size\n";
    text += part(at.begin, at.parameters) + parameters +
            ") {\n"
            "    const size_t causeway_at = get_global_id(0) - get_global_offset(0);\n"
            "    for (size_t causeway_i = 0; causeway_i < " +
            factor +
            "; ++causeway_i) {\n"
            "        const size_t causeway_n = " +
            (typed.order == "adjacent" ? "causeway_at * " + factor + " + causeway_i"
                                       : "causeway_at + causeway_i * get_global_size(0)") +
            ";\n"
            "        if (causeway_n < " +
            items + ") causeway_one_" + typed.kernel + "(" + names +
            "get_global_offset(0) + causeway_n);\n"
            "    }\n}\n";
    return text + part(at.end, source.size());
}

} // namespace

int main(int count, char** words) {
    arguments typed;
    if (!parse(count, words, typed)) {
        std::fprintf(stderr, "%s", usage);
        return 2;
    }
    std::ifstream file(typed.file, std::ios::binary);
    const std::string source{std::istreambuf_iterator<char>(file), {}};
    if (!file) {
        std::fprintf(stderr, "coarsen: cannot read %s\n", typed.file.c_str());
        return 1;
    }
    try {
        const auto at = coarsen::find_kernel(typed.file, source, typed.kernel, language_options(typed.options));
        const auto text = coarsened(source, at, typed);
        if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
            std::perror("coarsen: standard output");
            return 1;
        }
    } catch (const coarsen::refusal& refused) {
        std::fprintf(stderr, "coarsen: %s: %s\n", typed.kernel.c_str(), refused.what());
        return 1;
    }
}
