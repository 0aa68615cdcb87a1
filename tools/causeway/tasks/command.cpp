// SPDX-License-Identifier: Apache-2.0
// Options of `causeway tasks`: what to simulate, and what to print of it.
#include "tasks/command.hpp"

#include "words.hpp"

#include <causeway/tasks_simulator.h>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace tasks {

namespace {

using causeway_tool::usage_error;

const char* const teaching =
    R"(Runs a task program on a modelled machine, and says how long it takes there. Every figure is modelled.

Machines: opteron48 (8 nodes), tilepro64 (a mesh of tiles), this, a synthetic one of hwloc ("node:4 core:2 pu:1"), or
a file of its XML. Programs: map, reduction, vecmul, matmul, jacobi, sparselu, strassen, or the file of a run that
causeway_task_record_end() wrote. Policies: work-stealing, central, locality, locality-paper (the paper's own rules).

Examples:
  causeway tasks simulate map                                all policies, distribution as the paper advises
  causeway tasks simulate matmul --distribution fine         by another distribution than the paper advises
  causeway tasks simulate map --machine tilepro64 --vicinity 4
  causeway tasks simulate map --policy locality --timeline map.json
  causeway tasks timeline run.tasks -o run.json              a recorded run, as it was

Exit status: 0, 1 if something failed, 2 for wrong arguments.)";

struct arguments {
    std::string machine = "opteron48", program, distribution, timeline, record, output = "tasks-timeline.json";
    std::vector<std::string> policies;
    unsigned cores = 0, vicinity = 0, seed = 0;
    bool regret = false;
};

void check(int code) {
    if (code == CAUSEWAY_TASKS_INVALID_VALUE) throw usage_error(causeway_tasks_last_error());
    if (code != CAUSEWAY_TASKS_SUCCESS) throw std::runtime_error(causeway_tasks_last_error());
}

int simulate(const arguments& given) {
    if (!given.timeline.empty() && given.policies.size() != 1) throw usage_error("--timeline wants one --policy");
    auto policies = given.policies;
    if (policies.empty()) policies = {"work-stealing", "central", "locality", "locality-paper"};
    bool first = true;
    for (const auto& policy : policies) {
        causeway_simulation asked{};
        asked.machine = given.machine.c_str();
        asked.program = given.program.c_str();
        asked.policy = policy.c_str();
        asked.distribution = given.distribution.c_str();
        asked.cores = given.cores;
        asked.vicinity = given.vicinity;
        asked.seed = given.seed;
        asked.timeline = given.timeline.empty() ? nullptr : given.timeline.c_str();
        asked.regret = given.regret;
        causeway_simulation_result found{};
        check(causeway_tasks_simulate(&asked, &found));
        if (first)
            std::printf("modelled: %s on %s, distribution %s\n%-16s %12s %8s %9s %9s %8s %8s%s\n",
                        given.program.c_str(), given.machine.c_str(), found.distribution, "policy", "modelled ms",
                        "remote", "dealt", "stolen", "far", "tasks", given.regret ? "   regret" : "");
        first = false;
        const double bytes = found.own_bytes + found.remote_bytes;
        std::printf("%-16s %12.3f %7.1f%% %9llu %9llu %8llu %8llu", policy.c_str(), found.seconds * 1e3,
                    bytes > 0 ? 100 * found.remote_bytes / bytes : 0.0, static_cast<unsigned long long>(found.dealt),
                    static_cast<unsigned long long>(found.stolen), static_cast<unsigned long long>(found.stolen_far),
                    static_cast<unsigned long long>(found.tasks));
        if (given.regret)
            std::printf("   %.1f%% (best: %s)", 100 * (found.seconds / found.best_seconds - 1), found.best);
        std::printf("\n");
    }
    return 0;
}

} // namespace

std::function<int()> add_command(CLI::App& app) {
    auto given = std::make_shared<arguments>();
    auto* const command = app.add_subcommand("tasks", "simulate task programs on any machine, and show recorded runs");
    command->footer(teaching);
    command->require_subcommand(1);
    auto* const simulation = command->add_subcommand("simulate", "run a program on a modelled machine");
    simulation->add_option("GRAPH", given->program, "the name of a program, or a recorded run")->required();
    simulation->add_option("--machine", given->machine, "where it runs")->capture_default_str();
    simulation->add_option("--policy", given->policies, "policy; may be repeated [all]")->take_all();
    simulation->add_option("--distribution", given->distribution, "standard, fine or coarse [as advised]");
    simulation->add_option("--cores", given->cores, "how many work [all]");
    simulation->add_option("--vicinity", given->vicinity, "tiles that may steal from one another: 1, 4, 8, 16 [all]")
        ->check(CLI::IsMember({0u, 1u, 4u, 8u, 16u}));
    simulation->add_option("--seed", given->seed, "of the order in which idle workers look");
    simulation->add_option("--timeline", given->timeline, "write trace events to this file");
    simulation->add_flag("--regret", given->regret, "compare with the best schedule that is found");
    simulation->footer(teaching);
    auto* const timeline = command->add_subcommand("timeline", "trace events of a recorded run");
    timeline->add_option("RECORD", given->record, "what causeway_task_record_end() wrote")->required();
    timeline->add_option("-o,--output", given->output, "the file to write")->capture_default_str();
    timeline->footer(teaching);
    return [given, simulation] {
        if (simulation->parsed()) return simulate(*given);
        check(causeway_task_record_timeline(given->record.c_str(), given->output.c_str()));
        std::printf("%s\n", given->output.c_str());
        return 0;
    };
}

} // namespace tasks
