// SPDX-License-Identifier: Apache-2.0
// The program that does a recorded launch again: `replay-launch FOLDER` answers each line of its input, a JSON object,
// by one. What kernels and drivers print is no answer.
#include "study/replay/guarded_memory.hpp"
#include "study/replay/launch.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>

#include <fcntl.h>
#include <unistd.h>

namespace {

using nlohmann::json;

json recorded;

json answer(replay::launch& launch, const json& request) {
    if (request.contains("check")) return launch.check(replay::variant::from(request.at("check"), recorded));
    if (request.contains("disturb")) return launch.disturb();
    if (request.contains("confirm")) return launch.confirm();
    if (request.contains("keep")) return launch.keep();
    if (request.contains("adopt")) return launch.adopt();
    std::vector<replay::variant> all;
    for (const auto& each : request.at("time")) all.push_back(replay::variant::from(each, recorded));
    return {{"times", launch.time(all, request.value("least", 3U), request.at("rounds"), request.at("seconds"),
                                  request.value("all_count", false))}};
}

/// Standard output as it was found. Standard output itself becomes /dev/null, for what kernels print.
std::FILE* take_standard_output() {
    const int kept = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    const int nothing = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (kept < 0 || nothing < 0 || ::dup2(nothing, STDOUT_FILENO) < 0)
        throw std::runtime_error("cannot keep its output apart from what kernels print");
    ::close(nothing);
    return ::fdopen(kept, "w");
}

std::FILE* answers = stdout;

void say(const json& what) {
    std::fprintf(answers, "%s\n", what.dump(-1, ' ', false, json::error_handler_t::replace).c_str());
    std::fflush(answers);
}

} // namespace

int main(int count, char** words) {
    if (count != 2) {
        std::fprintf(stderr, "usage: replay-launch FOLDER\nIt is started by causeway study.\n");
        return 2;
    }
    try {
        answers = take_standard_output();
        recorded = json::parse(std::ifstream(std::filesystem::path(words[1]) / "launch.json"));
        replay::launch launch(words[1]);
        auto ready = launch.facts();
        replay::guarded_memory::tell_of_faults(::fileno(answers));
        ready["reference"] = launch.refer();
        say(ready);
        for (std::string line; std::getline(std::cin, line);) {
            try {
                say(answer(launch, json::parse(line)));
            } catch (const std::exception& error) {
                say({{"error", error.what()}});
            }
        }
        std::_Exit(0); // drivers have nothing to do any more
    } catch (const std::exception& error) {
        say({{"error", error.what()}});
        return 1;
    }
}
