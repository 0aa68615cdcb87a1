// SPDX-License-Identifier: Apache-2.0
// Policies by name, the best schedule found, and the timeline.
#include "tasks/simulator/report.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <string_view>

namespace causeway::tasks::simulator {

namespace {

/// As the inside of a string of JSON.
std::string escaped(const std::string& text) {
    std::string made;
    for (const char each : text) {
        if (const auto code = static_cast<unsigned char>(each); code < 0x20) {
            std::array<char, 8> unit{};
            std::snprintf(unit.data(), unit.size(), "\\u%04x", static_cast<unsigned>(code));
            made += unit.data();
            continue;
        }
        if (each == '"' || each == '\\') made += '\\';
        made += each;
    }
    return made;
}

} // namespace

std::unique_ptr<policy> policy_named(const std::string& name, const topology::machine& machine, unsigned vicinity) {
    const bool tiles = machine.columns != 0;
    if (name == "work-stealing") return work_stealing_policy();
    if (name == "central") return central_policy();
    if (name == "locality") return locality_policy(machine, {.home_caches = tiles, .vicinity = vicinity});
    if (name == "locality-paper")
        return locality_policy(machine,
                               {.load_term = false, .release = false, .home_caches = tiles, .vicinity = vicinity});
    throw transfer_error(status::invalid_value,
                         "no policy " + name + ": there are work-stealing, central, locality, locality-paper");
}

best_found find_best(const program& what, const std::string& paper_name, const cost_model& where,
                     const settings& with) {
    best_found best;
    const auto try_all = [&](const program& one, const std::string& distribution) {
        for (const char* name : {"work-stealing", "central", "locality", "nearest core"}) {
            auto its = with;
            its.greedy = std::string_view(name) == "nearest core";
            its.keep_slices = false;
            const auto policy = its.greedy ? work_stealing_policy() : policy_named(name, where.machine, 0);
            const auto seconds = simulate(one, where, *policy, its).seconds;
            if (best.how.empty() || seconds < best.seconds) best = {seconds, name + distribution};
        }
    };
    if (paper_name.empty()) try_all(what, "");
    for (const char* word : {"standard", "fine", "coarse"}) {
        const auto how = *distribution_of(word);
        auto one = paper_name.empty() ? what : paper_program(paper_name, how, where.machine.columns != 0);
        for (auto& each : one.allocations) each.how = how;
        try_all(one, std::string(", ") + word);
    }
    return best;
}

std::string timeline_of(const outcome& run, const std::string& title) {
    const auto name = escaped(title);
    std::string text = "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"title\":\"" + name + "\"},\"traceEvents\":[\n";
    text += "{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":\"" + name + "\"}}";
    // The colours that viewers know by name, from green to blue as the paper has it.
    constexpr std::array<const char*, 5> colours = {"good", "thread_state_running", "thread_state_runnable",
                                                    "rail_load", "rail_response"};
    std::map<unsigned, bool> lanes;
    std::array<char, 400> line{};
    const auto add = [&](const char* format, auto... values) {
        std::snprintf(line.data(), line.size(), format, values...);
        text += line.data();
    };
    const auto lane = [&](unsigned worker) {
        if (lanes.emplace(worker, true).second)
            add(",\n{\"ph\":\"M\",\"pid\":1,\"tid\":%u,\"name\":\"thread_name\",\"args\":{\"name\":\"worker %u\"}}",
                worker, worker);
    };
    for (const auto& each : run.slices) {
        lane(each.worker);
        const auto* const way = came_by_words[static_cast<std::size_t>(each.way)];
        add(",\n{\"ph\":\"X\",\"pid\":1,\"tid\":%u,\"ts\":%.3f,\"dur\":%.3f,\"name\":\"task %u\"", each.worker,
            each.begin * 1e6, (each.end - each.begin) * 1e6, each.task);
        if (each.remote < 0)
            add(",\"args\":{\"came\":\"%s\"}}", way);
        else
            add(",\"cname\":\"%s\",\"args\":{\"came\":\"%s\",\"remote\":%.3f}}",
                colours[std::min<std::size_t>(static_cast<std::size_t>(each.remote * 5), 4)], way, each.remote);
        if (each.way == came_by::own_queue || each.from == no_worker) continue;
        lane(each.from);
        add(",\n{\"ph\":\"s\",\"pid\":1,\"tid\":%u,\"ts\":%.3f,\"id\":%u,\"cat\":\"%s\",\"name\":\"%s\"}", each.from,
            each.ready * 1e6, each.task, way, way);
        add(",\n{\"ph\":\"f\",\"bp\":\"e\",\"pid\":1,\"tid\":%u,\"ts\":%.3f,\"id\":%u,\"cat\":\"%s\",\"name\":\"%s\"}",
            each.worker, each.begin * 1e6, each.task, way, way);
    }
    return text + "\n]}\n";
}

} // namespace causeway::tasks::simulator
