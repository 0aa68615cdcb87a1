// SPDX-License-Identifier: Apache-2.0
// Small random programs in our simulator and in SimGrid, another one: its processors and its network, whose sharing is
// max-min fair, stand for cores, memory and links. The queue is the same: one for all, first in, first out.
#include "tasks/simulator/report.hpp"

#include <gtest/gtest.h>

#include <simgrid/s4u.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <deque>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace causeway::tasks;
using namespace causeway::tasks::simulator;
namespace sg4 = simgrid::s4u;

struct one_task {
    double seconds = 0; ///< without memory
    unsigned home = 0;  ///< the node of its bytes
    double bytes = 0;
    std::vector<unsigned> before; ///< tasks that it waits for
};
using task_list = std::vector<one_task>;

constexpr unsigned node_count = 2, cores_of_node = 2;

cost_model machine() {
    auto made = model_of("node:2 core:2 pu:1");
    made.spawn = made.steal = 0;
    made.shares_cache = false;
    made.own_byte = 1e-9;
    made.node_bandwidth = 1.5e9; // less than both cores want
    made.link_bandwidth = 1e9;
    made.factors = {1, 1.6, 1.6, 1};
    return made;
}

task_list random_tasks(unsigned seed, double memory) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> part(0, 1);
    task_list made(60);
    for (unsigned each = 0; each < made.size(); ++each) {
        made[each].seconds = (1 - memory) * (0.5 + part(random)) * 1e-2;
        made[each].home = random() % node_count;
        made[each].bytes = std::floor(memory * (0.5 + part(random)) * 1e7 / 4096) * 4096;
        for (unsigned count = random() % 3; count > 0 && each > 0; --count)
            made[each].before.push_back(each - 1 - random() % std::min(each, 12u));
    }
    return made;
}

double ours(const task_list& tasks) {
    const auto model = machine();
    program what;
    const std::uintptr_t marks = what.allocate(4096 * tasks.size(), distribution::fine); // for the order
    for (unsigned each = 0; each < tasks.size(); ++each) {
        auto& made = what.tasks.emplace_back();
        const double near = tasks[each].bytes * model.own_byte; // what is measured has its memory in it
        made.its.seconds = tasks[each].seconds + near;
        // Allocations go round: two for each task, of which one is at its home.
        std::uintptr_t begin = 0;
        for (unsigned node = 0; node < node_count; ++node) {
            const auto next = what.allocate(static_cast<std::uint64_t>(tasks[each].bytes), distribution::coarse);
            if (node == tasks[each].home) begin = next;
        }
        made.regions.push_back({begin, static_cast<std::uint64_t>(tasks[each].bytes), access::footprint, false});
        for (const auto other : tasks[each].before) made.regions.push_back({marks + other * 64, 1, access::in, false});
        made.regions.push_back({marks + each * 64, 1, access::out, false});
    }
    return simulate(what, model, *policy_named("central", model.machine, 0), {}).seconds;
}

/// In a process of its own: SimGrid has one simulation for each.
double simgrids(const task_list& tasks) {
    int ends[2];
    if (pipe(ends) != 0) return -1;
    const pid_t child = fork();
    if (child == 0) {
        std::vector<std::string> words = {"simgrid", "--log=root.threshold:error", "--cfg=network/model:CM02",
                                          "--cfg=network/TCP-gamma:0", "--cfg=network/crosstraffic:0"};
        std::vector<char*> arguments;
        for (auto& each : words) arguments.push_back(each.data());
        int count = static_cast<int>(arguments.size());
        sg4::Engine engine(&count, arguments.data());
        const auto model = machine();
        auto* const zone = sg4::create_full_zone("all");
        std::vector<sg4::Host*> memories, cores;
        std::vector<const sg4::Link*> memory_links, in_links, out_links;
        for (unsigned node = 0; node < node_count; ++node) {
            const auto name = std::to_string(node);
            memories.push_back(zone->create_host("memory" + name, 1e9));
            memory_links.push_back(zone->create_link("m" + name, model.node_bandwidth)->set_latency(0)->seal());
            in_links.push_back(zone->create_link("i" + name, model.link_bandwidth)->set_latency(0)->seal());
            out_links.push_back(zone->create_link("o" + name, model.link_bandwidth)->set_latency(0)->seal());
        }
        for (unsigned core = 0; core < node_count * cores_of_node; ++core) {
            cores.push_back(zone->create_host("core" + std::to_string(core), 1e9));
            const unsigned here = core / cores_of_node;
            for (unsigned node = 0; node < node_count; ++node) {
                // What one core alone gets from there.
                const auto* const alone = zone->create_link("c" + std::to_string(core) + "_" + std::to_string(node),
                                                            1 / (model.own_byte * model.factor(here, node)))
                                              ->set_latency(0)
                                              ->seal();
                std::vector<sg4::LinkInRoute> route{sg4::LinkInRoute(memory_links[node]), sg4::LinkInRoute(alone)};
                if (node != here) {
                    route.emplace_back(out_links[node]);
                    route.emplace_back(in_links[here]);
                }
                zone->add_route(memories[node]->get_netpoint(), cores[core]->get_netpoint(), nullptr, nullptr, route,
                                false);
            }
        }
        zone->seal();
        std::vector<unsigned> waits(tasks.size(), 0);
        std::vector<std::vector<unsigned>> after(tasks.size());
        for (unsigned each = 0; each < tasks.size(); ++each) {
            for (const auto other : tasks[each].before) {
                ++waits[each];
                after[other].push_back(each);
            }
        }
        std::deque<unsigned> ready;
        unsigned over = 0;
        const auto mutex = sg4::Mutex::create();
        const auto changed = sg4::ConditionVariable::create();
        for (unsigned each = 0; each < tasks.size(); ++each)
            if (waits[each] == 0) ready.push_back(each);
        for (unsigned core = 0; core < cores.size(); ++core)
            sg4::Actor::create("worker", cores[core], [&, core] {
                std::unique_lock lock(*mutex);
                while (over < tasks.size()) {
                    if (ready.empty()) {
                        changed->wait(lock);
                        continue;
                    }
                    const auto& its = tasks[ready.front()];
                    const auto which = ready.front();
                    ready.pop_front();
                    lock.unlock();
                    if (its.seconds > 0) sg4::this_actor::execute(its.seconds * 1e9);
                    if (its.bytes > 0)
                        sg4::Comm::sendto_init(memories[its.home], cores[core])
                            ->set_payload_size(static_cast<std::uint64_t>(its.bytes))
                            ->wait();
                    lock.lock();
                    ++over;
                    for (const auto next : after[which])
                        if (--waits[next] == 0) ready.push_back(next);
                    changed->notify_all();
                }
            });
        engine.run();
        const double seconds = sg4::Engine::get_clock();
        const bool written = write(ends[1], &seconds, sizeof seconds) == sizeof seconds;
        _exit(written ? 0 : 1);
    }
    close(ends[1]);
    double seconds = -1;
    if (read(ends[0], &seconds, sizeof seconds) != sizeof seconds) seconds = -1;
    close(ends[0]);
    waitpid(child, nullptr, 0);
    return seconds;
}

void compare(double memory, double mean_limit, double most_limit) {
    double sum = 0, most = 0;
    constexpr unsigned count = 30;
    for (unsigned seed = 0; seed < count; ++seed) {
        const auto tasks = random_tasks(seed, memory);
        const double here = ours(tasks), there = simgrids(tasks);
        ASSERT_GT(there, 0);
        const double off = std::abs(here / there - 1);
        sum += off;
        most = std::max(most, off);
    }
    std::printf("%.0f %% memory: off by %.2f %% in the mean, %.2f %% at most\n", 100 * memory, 100 * sum / count,
                100 * most);
    EXPECT_LE(sum / count, mean_limit);
    EXPECT_LE(most, most_limit);
}

TEST(beside_simgrid, programs_without_memory_take_the_same_time) { compare(0, 1e-6, 1e-6); }
TEST(beside_simgrid, programs_with_some_memory_take_about_as_long) { compare(0.3, 0.05, 0.15); }
TEST(beside_simgrid, programs_of_memory_alone_take_about_as_long) { compare(1, 0.06, 0.15); }

} // namespace
