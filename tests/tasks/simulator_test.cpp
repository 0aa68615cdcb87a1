// SPDX-License-Identifier: Apache-2.0
// The simulator against arithmetic, and on machines that nobody has here.
#include "base/error.hpp"
#include "tasks/simulator/record_file.hpp"
#include "tasks/simulator/report.hpp"

#include <causeway/tasks.hpp>
#include <causeway/tasks_simulator.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

namespace {

using namespace causeway::tasks;
using namespace causeway::tasks::simulator;

cost_model free_machine(const std::string& synthetic) {
    auto model = model_of(synthetic);
    model.spawn = model.steal = 0;
    return model;
}

program independent(unsigned count, double seconds) {
    program made;
    made.name = "independent";
    made.tasks.resize(count);
    for (auto& each : made.tasks) each.its.seconds = seconds;
    return made;
}

double run(const program& what, const cost_model& where, const std::string& policy = "work-stealing") {
    const auto rules = policy_named(policy, where.machine, 0);
    return simulate(what, where, *rules, {}).seconds;
}

TEST(simulator, spreads_independent_work_over_all_cores) {
    for (const auto* policy : {"work-stealing", "central", "locality", "locality-paper"})
        EXPECT_NEAR(run(independent(64, 1e-3), free_machine("node:1 core:8 pu:1"), policy), 8e-3, 1e-9) << policy;
    EXPECT_NEAR(run(independent(9, 1e-3), free_machine("node:4 core:2 pu:1")), 2e-3, 1e-9);
}

TEST(simulator, follows_dependences) {
    auto what = independent(10, 1e-3);
    for (auto& each : what.tasks) each.regions = {{4096, 8, access::inout, false}};
    EXPECT_NEAR(run(what, free_machine("node:1 core:8 pu:1")), 10e-3, 1e-6) << "a chain";
    for (std::size_t each = 1; each < 9; ++each) what.tasks[each].regions[0].how = access::in;
    EXPECT_NEAR(run(what, free_machine("node:1 core:8 pu:1")), 3e-3, 1e-6) << "one writes, eight read, one writes";
}

TEST(simulator, a_parent_ends_after_its_children_and_before_what_waits_for_it) {
    program what = independent(4, 1e-3);
    what.tasks[0].waits_for_children = true;
    what.tasks[1].parent = what.tasks[2].parent = 0;
    what.tasks[1].its.seconds = 5e-3;
    what.tasks[1].group = what.tasks[2].group = 1;
    what.tasks[0].regions = what.tasks[3].regions = {{4096, 8, access::inout, false}};
    EXPECT_NEAR(run(what, free_machine("node:1 core:4 pu:1")), 6e-3, 1e-6);
}

TEST(simulator, memory_of_one_node_is_shared_by_those_who_use_it) {
    auto model = free_machine("node:1 core:8 pu:1");
    program what;
    for (int each = 0; each < 8; ++each) {
        const auto begin = what.allocate(64 << 20, distribution::local);
        what.tasks.emplace_back().regions = {{begin, 64 << 20, access::in, false}};
    }
    const double least = 8.0 * (64 << 20) / model.node_bandwidth;
    EXPECT_GE(run(what, model), 0.99 * least);
    model.node_bandwidth = 1e15;
    EXPECT_LT(run(what, model), 0.9 * least);
}

TEST(simulator, what_was_measured_on_one_core_takes_as_long_on_one) {
    // One task works long on little, one reads what it has, and one may read far more than its time allows.
    auto model = free_machine("node:1 core:2 pu:1");
    model.shares_cache = false;
    program what;
    for (const double seconds : {10e-3, 1e-3, 1e-3}) {
        const std::uint64_t bytes = what.tasks.size() == 2 ? 1ull << 30 : 1ull << 20;
        auto& made = what.tasks.emplace_back();
        made.its.seconds = seconds;
        made.regions = {{what.allocate(bytes, distribution::local), bytes, access::in, false}};
    }
    EXPECT_NEAR(simulate(what, model, *policy_named("central", model.machine, 0), {.cores = 1}).seconds, 12e-3, 1e-9);
}

TEST(simulator, a_long_run_of_short_tasks_ends) {
    // Late in a run a step of time is larger than what is left of a short task.
    auto model = free_machine("node:1 core:2 pu:1");
    auto what = independent(2000, 1e-9);
    what.tasks[0].its.seconds = 1e6;
    for (std::size_t each = 1; each < what.tasks.size(); ++each) {
        what.tasks[each].regions = {{4096, 8, access::inout, false}};
        what.tasks[each].its.seconds = each == 1 ? 0.9e6 : 1e-9;
    }
    EXPECT_NEAR(run(what, model), 1e6, 1);
}

TEST(simulator, threads_that_sleep_are_woken_one_by_one) {
    // Three of four sleep. The program's thread spawns four tasks, of which three wake somebody, and takes the fourth.
    auto model = free_machine("node:1 core:4 pu:1");
    model.spawn = 1e-6;
    model.ring = 2e-6;
    model.wake = 10e-6;
    for (const auto* policy : {"work-stealing", "central", "locality"})
        EXPECT_NEAR(run(independent(4, 1e-3), model, policy), 1e-3 + 16e-6, 1e-9) << policy; // 3 + 3 + 10, then its
                                                                                             // task
    // One works for a second, then four may start. Whoever has looked for work in vain for so long sleeps again.
    auto what = independent(5, 1e-3);
    what.tasks[0].its.seconds = 1;
    for (auto& each : what.tasks) each.regions = {{4096, 8, access::in, false}};
    what.tasks[0].regions[0].how = access::inout;
    EXPECT_NEAR(run(what, model), 1 + 1e-3 + 17e-6, 1e-9); // 7 to spawn, 10 until the last starts
    model.ring = model.wake = 0;
    EXPECT_NEAR(run(what, model), 1 + 1e-3, 1e-9);
}

TEST(simulator, a_thread_that_shares_a_processor_starts_late) {
    auto model = free_machine("node:1 core:4 pu:1");
    model.spawn = 1e-6;
    model.ring = 2e-6;
    model.wake = 10e-6;
    model.measured_wakes = {{10e-6}, {10e-6, 20e-6, 5e-3}};
    // The third of three that are woken comes too late, so another one takes its task.
    EXPECT_NEAR(run(independent(4, 1e-3), model), 2e-3, 50e-6);
    const auto two = [&] {
        return simulate(independent(2, 1e-3), model, *policy_named("central", model.machine, 0), {.cores = 2}).seconds;
    };
    EXPECT_NEAR(two(), 1e-3, 50e-6) << "two threads share nothing";
    // Between pools that were measured, by the part of the threads that are awake.
    model.measured_wakes = {{1}, {1, 2, 3, 4, 5, 6, 7, 8, 9}};
    EXPECT_EQ(model.wake_beside(1, 2), 1);
    EXPECT_EQ(model.wake_beside(1, 6), 1);
    EXPECT_EQ(model.wake_beside(5, 6), 9);
    EXPECT_EQ(model.wake_beside(3, 6), 5);
    EXPECT_EQ(model.wake_beside(99, 100), 9) << "more than were measured";
}

TEST(simulator, measures_the_machine_that_it_runs_on) {
    const auto model = model_of("this");
    EXPECT_GT(model.own_byte, 0);
    EXPECT_GT(model.node_bandwidth, 0);
    EXPECT_GT(model.spawn, 0);
    EXPECT_EQ(model.wake > 0, model.machine.cores.size() > 1);
    for (const auto& each : model.measured_wakes)
        EXPECT_EQ(std::count_if(each.begin(), each.end(), [](double seconds) { return seconds > 0; }),
                  static_cast<std::ptrdiff_t>(each.size()));
    const auto& last = model.measured_wakes;
    EXPECT_EQ(last.empty() ? 1 : last.back().size() + 1, model.machine.cores.size());
}

TEST(simulator, a_victim_cache_has_what_the_cores_evict) {
    // A task reads 1 MiB and then 1 MiB of something else; a task of another core then reads the first again.
    auto model = free_machine("node:1 core:2 pu:1");
    model.machine.cache_bytes = 16u << 20;
    const auto cached = [&model](std::uint64_t private_bytes, bool evicts) {
        model.private_cache = private_bytes;
        program what;
        const auto first = what.allocate(1 << 20, distribution::local),
                   other = what.allocate(1 << 20, distribution::local);
        what.tasks.resize(2);
        what.tasks[0].regions = {{first, 1 << 20, access::in, false}};
        if (evicts) what.tasks[0].regions.push_back({other, 1 << 20, access::in, false});
        what.tasks[0].its.seconds = 1;
        what.tasks[1].regions = {{first, 1 << 20, access::in, false}};
        return simulate(what, model, *policy_named("work-stealing", model.machine, 0), {}).cached_bytes;
    };
    EXPECT_EQ(cached(0, false), 1 << 20) << "one cache for all";
    EXPECT_EQ(cached(1 << 20, false), 0) << "the other core has it to itself";
    EXPECT_EQ(cached(1 << 20, true), 1 << 20);
}

TEST(simulator, a_core_waits_for_lines_that_it_computes_long_on) {
    auto model = free_machine("node:1 core:1 pu:1");
    model.shares_cache = false;
    model.waited_byte = 7 * model.own_byte;
    model.run_ahead = 100;
    constexpr std::uint64_t bytes = 1 << 20;
    const auto memory = [&](double operations_per_line) {
        program what;
        auto& made = what.tasks.emplace_back();
        made.regions = {{what.allocate(bytes, distribution::local), bytes, access::in, false}};
        made.its.others = operations_per_line * bytes / cost_model::line_bytes;
        return run(what, model) - made.its.others * model.other;
    };
    EXPECT_NEAR(memory(99), bytes * model.own_byte, 1e-9);
    EXPECT_NEAR(memory(101), 7 * bytes * model.own_byte, 1e-9);
    model.waited_byte = 0;
    EXPECT_NEAR(memory(101), bytes * model.own_byte, 1e-9) << "a core that runs ahead always";
}

TEST(simulator, steps_of_a_task_follow_one_another) {
    auto model = free_machine("node:1 core:1 pu:1");
    program what;
    for (int each = 0; each < 4; ++each) {
        const auto begin = what.allocate(1 << 20, distribution::local);
        if (each == 0) what.tasks.emplace_back();
        what.tasks[0].regions.push_back({begin, 1 << 20, access::in, false});
    }
    what.tasks[0].its.seconds = 1e-3;
    const auto whole = simulate(what, model, *policy_named("central", model.machine, 0), {});
    what.tasks[0].steps = 3;
    const auto stepped = simulate(what, model, *policy_named("central", model.machine, 0), {});
    EXPECT_NEAR(stepped.seconds, whole.seconds, 1e-9);
    EXPECT_EQ(stepped.own_bytes, 4 << 20);
    EXPECT_EQ(stepped.tasks, 1u);
}

TEST(simulator, remote_bytes_are_those_of_other_nodes) {
    const auto model = free_machine("node:4 core:2 pu:1");
    program what;
    for (int each = 0; each < 8; ++each) {
        const auto begin = what.allocate(8 << 20, distribution::coarse);
        what.tasks.emplace_back().regions = {{begin, 8 << 20, access::in, false}};
    }
    const auto local = simulate(what, model, *policy_named("locality", model.machine, 0), {});
    EXPECT_EQ(local.remote_bytes, 0);
    EXPECT_EQ(local.own_bytes, 8 * (8 << 20));
    const auto anywhere = simulate(what, model, *policy_named("work-stealing", model.machine, 0), {});
    EXPECT_GE(anywhere.remote_bytes, anywhere.own_bytes);
    EXPECT_LE(local.remote_bytes, 0.5 * anywhere.remote_bytes);
}

TEST(simulator, fine_memory_lies_on_nodes_with_cores) {
    auto model = free_machine("node:3 core:1 pu:1");
    auto& machine = model.machine;
    machine.cores.erase(machine.cores.begin());
    for (unsigned node = 0; node < 3; ++node) machine.nodes[node].cores.clear();
    for (unsigned core = 0; core < 2; ++core) machine.nodes[machine.cores[core].node].cores.push_back(core);
    program what;
    const auto begin = what.allocate(64 << 12, distribution::fine);
    for (int each = 0; each < 2; ++each) what.tasks.emplace_back().regions = {{begin, 64 << 12, access::in, false}};
    const auto both = simulate(what, model, *policy_named("central", machine, 0), {});
    EXPECT_EQ(both.own_bytes, 64 << 12) << "half of it for each";
    EXPECT_EQ(both.remote_bytes, 64 << 12);
}

TEST(simulator, runs_tasks_of_tiles_where_no_worker_sits) {
    // Algorithm 2 spares short queues for ever; a vicinity of one tile that no worker sits at.
    auto model = model_of("tilepro64");
    program what;
    (void)what.allocate(1 << 20, distribution::coarse);
    const auto begin = what.allocate(1 << 20, distribution::coarse); // home: tile 1, and one core works
    what.tasks.emplace_back().regions = {{begin, 1 << 20, access::in, false}};
    EXPECT_NO_THROW((void)simulate(what, model, *policy_named("locality-paper", model.machine, 1), {.cores = 1}));
}

TEST(simulator, a_timeline_is_json_whatever_its_title) {
    const auto text = timeline_of({}, "folder \"a\\b\"\n");
    EXPECT_NE(text.find(R"("title":"folder \"a\\b\"\u000a"})"), std::string::npos) << text;
    EXPECT_NE(text.find(R"("args":{"name":"folder \"a\\b\"\u000a"})"), std::string::npos) << text;
}

TEST(simulator, knows_the_papers_machines) {
    EXPECT_EQ(model_of("opteron48").machine.cores.size(), 48u);
    EXPECT_EQ(model_of("opteron48").machine.nodes.size(), 8u);
    const auto opteron = model_of("opteron48");
    EXPECT_DOUBLE_EQ(*std::max_element(opteron.machine.distances.begin(), opteron.machine.distances.end()), 2.2);
    EXPECT_EQ(opteron.factors, opteron.machine.distances);
    EXPECT_EQ(model_of("tilepro64").machine.cores.size(), 63u);
    EXPECT_NEAR(model_of("tilepro64").factor(0, 62), 6, 0.2);
    EXPECT_NEAR(model_of("tilepro64").factor(0, 1), 4, 1e-9);
}

TEST(simulator, refuses_machines_programs_and_policies_that_are_not_there) {
    causeway_simulation_result result;
    const auto refused = [&](const causeway_simulation& asked, const char* word) {
        EXPECT_EQ(causeway_tasks_simulate(&asked, &result), CAUSEWAY_TASKS_INVALID_VALUE);
        EXPECT_NE(std::string(causeway_tasks_last_error()).find(word), std::string::npos)
            << causeway_tasks_last_error();
    };
    refused({.machine = "no:such machine"}, "no:such machine");
    refused({.machine = "nowhere.xml"}, "nowhere.xml");
    refused({.program = "tetris"}, "tetris");
    refused({.policy = "luck"}, "luck");
    refused({.distribution = "everywhere"}, "everywhere");
    EXPECT_EQ(causeway_tasks_simulate(nullptr, nullptr), CAUSEWAY_TASKS_INVALID_VALUE);
}

TEST(recorded_runs, with_sizes_that_no_memory_has_are_refused) {
    const std::string path = testing::TempDir() + "/causeway_tasks_no_record.tasks";
    const std::string task = "task -1 0 0 10 0 0 0 -1 own -1\n";
    for (const auto& [lines, word] : {std::pair<std::string, const char*>{task + "region 4096 -1800 2 0\n", "line 3"},
                                      {"allocation 4096 -5 coarse\n" + task, "allocates more"},
                                      {"allocation 4096 9223372036854775807 fine\n" + task, "allocates more"},
                                      {task + "region 4096 8 7 0\n", "line 3"}}) {
        std::ofstream(path) << "causeway tasks 2\n" << lines;
        const causeway_simulation asked{.machine = "node:2 core:2 pu:1", .program = path.c_str()};
        causeway_simulation_result result;
        EXPECT_EQ(causeway_tasks_simulate(&asked, &result), CAUSEWAY_TASKS_INVALID_VALUE) << lines;
        EXPECT_NE(std::string(causeway_tasks_last_error()).find(word), std::string::npos)
            << causeway_tasks_last_error();
    }
    std::remove(path.c_str());
}

TEST(simulator, regret_is_never_negative_and_finds_what_stealing_loses) {
    for (const auto* policy : {"work-stealing", "locality"}) {
        const causeway_simulation asked{.program = "map", .policy = policy, .regret = 1};
        causeway_simulation_result result;
        ASSERT_EQ(causeway_tasks_simulate(&asked, &result), CAUSEWAY_TASKS_SUCCESS) << causeway_tasks_last_error();
        EXPECT_GT(result.best_seconds, 0);
        EXPECT_LE(result.best_seconds, result.seconds);
        // Stealing takes vectors away from their nodes.
        EXPECT_EQ(result.best_seconds < 0.9 * result.seconds, std::string(policy) == "work-stealing") << result.best;
    }
}

TEST(recorded_runs, have_regret_for_a_distribution_that_serves_them_badly) {
    const std::string path = testing::TempDir() + "/causeway_tasks_fine_record.tasks";
    {
        std::ofstream file(path);
        file << "causeway tasks 2\n";
        constexpr std::uint64_t bytes = 1 << 23;
        for (std::uint64_t each = 1; each <= 8; ++each)
            file << "allocation " << each * bytes << ' ' << bytes << " fine\n";
        for (std::uint64_t each = 1; each <= 8; ++each)
            file << "task -1 0 0 5000000 0 0 0 -1 own -1\nregion " << each * bytes << ' ' << bytes << " 2 0\n";
    }
    const causeway_simulation asked{.program = path.c_str(), .policy = "locality", .regret = 1};
    causeway_simulation_result result;
    ASSERT_EQ(causeway_tasks_simulate(&asked, &result), CAUSEWAY_TASKS_SUCCESS) << causeway_tasks_last_error();
    EXPECT_LT(result.best_seconds, 0.9 * result.seconds) << result.best;
    EXPECT_NE(std::string(result.best).find(", coarse"), std::string::npos) << result.best;
    std::remove(path.c_str());
}

TEST(recorded_runs, are_replayed_with_their_times_and_order) {
    const std::string path = testing::TempDir() + "/causeway_tasks_record.tasks";
    causeway::task_pool pool({.policy = CAUSEWAY_TASK_POLICY_WORK_STEALING, .threads = 2});
    auto* const data = static_cast<int*>(causeway_malloc(1 << 20, CAUSEWAY_DISTRIBUTION_FINE));
    ASSERT_EQ(causeway_task_record_begin(pool.get()), CAUSEWAY_TASKS_SUCCESS);
    const auto busy = [data](int at) {
        for (int each = 0; each < 200000; ++each) data[at] += each ^ at;
    };
    {
        causeway::task_group group(pool);
        for (int each = 0; each < 6; ++each) group.spawn([=] { busy(0); }, {causeway::inout(data, 10)});
        group.spawn([&] {
            causeway::task_group inner(pool);
            inner.spawn([=] { busy(64); });
            inner.spawn([=] { busy(128); });
            inner.wait();
        });
        group.wait();
    }
    ASSERT_EQ(causeway_task_record_end(pool.get(), path.c_str()), CAUSEWAY_TASKS_SUCCESS)
        << causeway_tasks_last_error();
    causeway_free(data);
    EXPECT_EQ(causeway_task_record_end(pool.get(), path.c_str()), CAUSEWAY_TASKS_INVALID_VALUE);

    causeway_simulation asked{.machine = "node:2 core:4 pu:1", .program = path.c_str()};
    causeway_simulation_result result;
    ASSERT_EQ(causeway_tasks_simulate(&asked, &result), CAUSEWAY_TASKS_SUCCESS) << causeway_tasks_last_error();
    EXPECT_EQ(result.tasks, 9u);
    EXPECT_GT(result.seconds, 0);
    // The chain of six, and what two cores can do: no schedule is faster, and none that leaves no core idle in vain
    // much slower.
    const auto replay = read_record(path).replay;
    double chain = 0, sum = 0, longest = 0;
    for (std::size_t each = 0; each < replay.tasks.size(); ++each) {
        const auto seconds = replay.tasks[each].its.seconds;
        if (each < 6) chain += seconds;
        sum += seconds;
        longest = std::max(longest, seconds);
    }
    auto two_cores = free_machine("node:1 core:2 pu:1");
    two_cores.own_byte = two_cores.cached_byte = 0;
    const auto modelled = run(replay, two_cores);
    EXPECT_GE(modelled, std::max(chain, sum / 2) * 0.999);
    EXPECT_LE(modelled, (sum / 2 + std::max(chain, longest)) * 1.001) << "Graham's bound";
    const std::string timeline = testing::TempDir() + "/causeway_tasks_timeline.json";
    ASSERT_EQ(causeway_task_record_timeline(path.c_str(), timeline.c_str()), CAUSEWAY_TASKS_SUCCESS);
    std::ifstream file(timeline);
    std::stringstream text;
    text << file.rdbuf();
    EXPECT_NE(text.str().find("\"task 8\""), std::string::npos);
    asked.program = timeline.c_str();
    EXPECT_EQ(causeway_tasks_simulate(&asked, &result), CAUSEWAY_TASKS_INVALID_VALUE);
    EXPECT_NE(std::string(causeway_tasks_last_error()).find("line 1"), std::string::npos);
    std::remove(path.c_str());
    std::remove(timeline.c_str());
}

} // namespace
