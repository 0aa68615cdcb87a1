// SPDX-License-Identifier: Apache-2.0
// The program that does a recorded launch again: `replay-launch FOLDER` answers each line of its input, a JSON object,
// by one.
#include "study/replay/guarded_memory.hpp"
#include "study/replay/launch.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

namespace {

using nlohmann::json;

json recorded;

json answer(replay::launch& launch, const json& request) {
    if (request.contains("check")) return launch.check(replay::variant::from(request.at("check"), recorded));
    if (request.contains("disturb")) return launch.disturb();
    std::vector<replay::variant> all;
    for (const auto& each : request.at("time")) all.push_back(replay::variant::from(each, recorded));
    return {{"times", launch.time(all, request.value("least", 3U), request.at("rounds"), request.at("seconds"))}};
}

void say(const json& what) {
    std::printf("%s\n", what.dump(-1, ' ', false, json::error_handler_t::replace).c_str());
    std::fflush(stdout);
}

} // namespace

int main(int count, char** words) {
    if (count != 2) {
        std::fprintf(stderr, "usage: replay-launch FOLDER\nIt is started by causeway study.\n");
        return 2;
    }
    try {
        recorded = json::parse(std::ifstream(std::filesystem::path(words[1]) / "launch.json"));
        replay::launch launch(words[1]);
        auto ready = launch.facts();
        replay::guarded_memory::tell_of_faults();
        ready["reference"] = launch.refer();
        say(ready);
        for (std::string line; std::getline(std::cin, line);) {
            try {
                say(answer(launch, json::parse(line)));
            } catch (const std::exception& error) {
                say({{"error", error.what()}});
            }
        }
        std::fflush(stdout);
        std::_Exit(0); // drivers have nothing to do any more
    } catch (const std::exception& error) {
        say({{"error", error.what()}});
        return 1;
    }
}
