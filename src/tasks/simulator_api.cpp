// SPDX-License-Identifier: Apache-2.0
// causeway/tasks_simulator.h: questions in words, answers in figures.
#include "causeway/tasks_simulator.h"

#include "base/error.hpp"
#include "base/whole_file.hpp"
#include "tasks/api_boundary.hpp"
#include "tasks/pool_handle.hpp"
#include "tasks/process.hpp"
#include "tasks/run_record.hpp"
#include "tasks/simulator/record_file.hpp"
#include "tasks/simulator/report.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>

using namespace causeway;
using namespace causeway::tasks;

namespace {

std::string word_or(const char* given, const char* otherwise) { return given && *given ? given : otherwise; }

const char* word_of(distribution how) {
    switch (how) {
    case distribution::fine: return "fine";
    case distribution::coarse: return "coarse";
    case distribution::local: return "local";
    case distribution::standard: return "standard";
    case distribution::plugin: break;
    }
    return "its own";
}

void write_timeline(const std::string& path, const std::string& text) {
    if (!write_file(path, text))
        throw transfer_error(status::io_error, "writing the timeline " + path + ": " + errno_text(errno), errno);
}

void simulate(const causeway_simulation& asked, causeway_simulation_result& result) {
    const auto machine = word_or(asked.machine, "opteron48"), name = word_or(asked.program, "map"),
               policy_word = word_or(asked.policy, "locality");
    const auto names = simulator::paper_program_names();
    const bool is_paper_program = std::find(names.begin(), names.end(), name) != names.end();
    const auto model = simulator::model_of(machine);
    const bool tiles = model.machine.columns != 0;
    std::optional<distribution> how;
    if (asked.distribution && *asked.distribution) {
        how = distribution_of(asked.distribution);
        if (!how)
            throw transfer_error(status::invalid_value, std::string("no distribution ") + asked.distribution +
                                                            ": there are standard, fine, coarse, local");
    }
    simulator::program what;
    if (is_paper_program) {
        if (!how) how = simulator::advised_distribution(name);
        what = simulator::paper_program(name, *how, tiles);
    } else if (name.find_first_of("./") != std::string::npos) {
        what = simulator::read_record(name).replay;
        for (auto& each : what.allocations)
            if (how) each.how = *how;
    } else {
        what = simulator::paper_program(name, distribution::fine, tiles); // refuses it
    }
    const simulator::settings with{asked.cores, asked.seed + 1, false, asked.timeline != nullptr};
    const auto policy = simulator::policy_named(policy_word, model.machine, asked.vicinity);
    const auto run = simulator::simulate(what, model, *policy, with);
    if (asked.timeline)
        write_timeline(asked.timeline, simulator::timeline_of(run, "modelled: " + name + ", " + policy_word));
    result = {run.seconds,
              run.memory_seconds,
              run.own_bytes,
              run.remote_bytes,
              run.cached_bytes,
              run.tasks,
              run.dealt,
              run.stolen,
              run.stolen_far,
              0,
              "",
              ""};
    std::snprintf(result.distribution, sizeof result.distribution, "%s", how ? word_of(*how) : "as recorded");
    if (!asked.regret) return;
    auto best = simulator::find_best(what, is_paper_program ? name : "", model, with);
    if (run.seconds < best.seconds) best = {run.seconds, policy_word + ", " + result.distribution};
    result.best_seconds = best.seconds;
    std::snprintf(result.best, sizeof result.best, "%s", best.how.c_str());
}

} // namespace

int causeway_tasks_simulate(const causeway_simulation* asked, causeway_simulation_result* result) {
    return guard([&] {
        if (!result) throw transfer_error(status::invalid_value, "a simulation: the pointer to its result is null");
        simulate(asked ? *asked : causeway_simulation{}, *result);
    });
}

int causeway_task_record_begin(causeway_task_pool* pool) {
    return guard([&] {
        if (!pool) throw transfer_error(status::invalid_value, "the record of a pool: it is null");
        pool->record = std::make_unique<run_record>();
        pool->set_record(pool->record.get());
    });
}

int causeway_task_record_end(causeway_task_pool* pool, const char* path) {
    return guard([&] {
        if (!pool || !path)
            throw transfer_error(status::invalid_value,
                                 pool ? "the record of a pool: its path is null" : "the record of a pool: it is null");
        if (!pool->record) throw transfer_error(status::invalid_value, "the record of a pool: none was begun");
        pool->set_record(nullptr);
        const auto tasks = std::exchange(pool->record, nullptr)->tasks();
        simulator::write_record(path, tasks, process().memory().addresses(), pool->node_of_worker(),
                                process().here.nodes.size());
    });
}

int causeway_task_record_timeline(const char* record_path, const char* timeline_path) {
    return guard([&] {
        if (!record_path || !timeline_path) throw transfer_error(status::invalid_value, "a timeline: a path is null");
        simulator::outcome run;
        run.slices = simulator::read_record(record_path).slices;
        write_timeline(timeline_path, simulator::timeline_of(run, record_path));
    });
}
