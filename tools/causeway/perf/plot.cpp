// SPDX-License-Identifier: Apache-2.0
// Draws with matplotlib, in a Python script that lies beside the program: bin/../share/causeway/perf_plot.py.
#include "perf/report.hpp"

#include "words.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <stdexcept>

extern "C" char** environ;

namespace perf {

namespace {

/// A Python of the user's own may come first and lack what the system's has.
constexpr std::array pythons = {"python3", "/usr/bin/python3"};

/// Runs the script; returns its status, or -1 if there is no such Python.
int run_script(const char* python, std::vector<std::string> arguments) {
    const auto program = std::filesystem::read_symlink("/proc/self/exe");
    const auto script = program.parent_path().parent_path() / "share/causeway/perf_plot.py";
    if (!std::filesystem::exists(script)) throw std::runtime_error("no script " + script.string());
    arguments.insert(arguments.begin(), {python, script.string()});
    std::vector<char*> words;
    for (auto& each : arguments) words.push_back(each.data());
    words.push_back(nullptr);
    pid_t child = 0;
    if (posix_spawnp(&child, words[0], nullptr, nullptr, words.data(), environ) != 0) return -1;
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/// The first Python that has matplotlib, or null.
const char* find_python() {
    for (const char* const each : pythons)
        if (run_script(each, {"--check"}) == 0) return each;
    return nullptr;
}

} // namespace

void check_plotting(const std::filesystem::path& picture) {
    auto suffix = picture.extension().string();
    std::ranges::transform(suffix, suffix.begin(), [](unsigned char each) { return std::tolower(each); });
    if (suffix != ".png" && suffix != ".svg" && suffix != ".pdf")
        throw causeway_tool::usage_error("--plot: a picture's name ends in .png, .svg or .pdf, not as " +
                                         picture.string());
    if (find_python() == nullptr)
        throw causeway_tool::usage_error("--plot needs python3 with matplotlib (Debian: python3-matplotlib; PyPI: "
                                         "matplotlib); what --json has written can be drawn elsewhere with --from");
}

void plot(const std::vector<std::filesystem::path>& results, const std::filesystem::path& picture) {
    std::vector<std::string> arguments{picture.string()};
    for (const auto& each : results) arguments.push_back(each.string());
    const char* const python = find_python();
    if (python == nullptr || run_script(python, arguments) != 0)
        throw std::runtime_error("drawing " + picture.string() + " failed");
}

} // namespace perf
