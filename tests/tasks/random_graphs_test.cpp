// SPDX-License-Identifier: Apache-2.0
// Random task graphs with overlapping regions, under every policy and from 1 to 64 threads, against a serial
// interpreter.
#include "tasks/arena.hpp"
#include "tasks/pool.hpp"
#include "tasks/task.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace causeway;
using namespace causeway::tasks;

constexpr unsigned cell_count = 48;

/// Binds nothing: the machine is not there.
class no_binder final : public page_binder {
  public:
    bool bind(void*, std::size_t, unsigned) override { return true; }
    bool interleave(void*, std::size_t) override { return true; }
    unsigned current_node() override { return 0; }
};

topology::machine eight_nodes() {
    auto machine = topology::opteron_48();
    machine.cache_bytes = 1; // every task is worth dealing
    return machine;
}

/// A cell is a page, of which the first word counts.
struct cells {
    explicit cells(arena& memory, distribution how) : memory(memory) {
        for (unsigned each = 0; each < cell_count; each += cell_count / 4) // four allocations side by side are no one
                                                                           // range
            parts.push_back(static_cast<std::byte*>(memory.allocate({cell_count / 4 * 4096ul, how, 0, {}})));
    }
    ~cells() {
        for (auto* each : parts) memory.release(each);
    }
    std::uint64_t& operator[](unsigned cell) {
        return *reinterpret_cast<std::uint64_t*>(parts[cell / (cell_count / 4)] + cell % (cell_count / 4) * 4096);
    }
    arena& memory;
    std::vector<std::byte*> parts;
};

struct access_range {
    unsigned first, last; ///< within one part
    tasks::access how;
};

struct random_task {
    std::uint64_t id = 0;
    std::vector<access_range> ranges;
    std::uint64_t result = 0;
};

std::uint64_t mixed(std::uint64_t left, std::uint64_t right) {
    return (left ^ (right + 0x9e3779b97f4a7c15u + (left << 6))) * 0xff51afd7ed558ccdu;
}

template <class Cells> void work(random_task& task, Cells& all) {
    auto value = task.id;
    for (const auto& range : task.ranges)
        if (range.how == tasks::access::in || range.how == tasks::access::inout)
            for (auto cell = range.first; cell < range.last; ++cell) value = mixed(value, all[cell]);
    for (const auto& range : task.ranges)
        if (range.how == tasks::access::out || range.how == tasks::access::inout)
            for (auto cell = range.first; cell < range.last; ++cell) all[cell] = mixed(value, cell);
    task.result = value;
}

std::vector<random_task> random_graph(std::mt19937_64& random) {
    const auto below = [&](unsigned limit) { return static_cast<unsigned>(random() % limit); };
    std::vector<random_task> graph(1 + below(60));
    const unsigned part = cell_count / 4;
    for (auto& task : graph) {
        task.id = random();
        for (unsigned count = below(5); count > 0; --count) {
            const auto first = below(part),
                       length = 1 + below(below(4) == 0 ? part - first : std::min(3u, part - first));
            const auto begin = below(4) * part + first;
            task.ranges.push_back({begin, begin + length, static_cast<tasks::access>(below(4))});
        }
    }
    return graph;
}

std::unique_ptr<policy> policy_number(unsigned which, const topology::machine& machine) {
    switch (which) {
    case 0: return work_stealing_policy();
    case 1: return central_policy();
    case 2: return locality_policy(machine, {});
    case 3: return locality_policy(machine, {.load_term = false, .release = false});
    default: return locality_policy(machine, {.home_caches = true, .vicinity = 0});
    }
}

void run_graphs(unsigned policy_index, unsigned threads, unsigned callers, int count, std::uint64_t seed) {
    const auto machine = eight_nodes();
    arena memory(machine, std::make_unique<no_binder>());
    pool workers(machine, memory.addresses(), policy_number(policy_index, machine), {threads, callers, false});
    std::mt19937_64 random(seed);
    constexpr std::array<distribution, 3> distributions = {distribution::fine, distribution::coarse,
                                                           distribution::local};
    for (int round = 0; round < count; ++round) {
        auto graph = random_graph(random);
        auto expected = graph;
        std::array<std::uint64_t, cell_count> serial{};
        for (auto& task : expected) work(task, serial);

        cells all(memory, distributions[static_cast<std::size_t>(round) % 3]);
        struct call {
            random_task* task;
            cells* all;
        };
        task_group group(&workers);
        for (auto& task : graph) {
            std::vector<region> regions;
            for (const auto& range : task.ranges)
                regions.push_back({reinterpret_cast<std::uintptr_t>(&all[range.first]),
                                   (range.last - range.first) * 4096ul, range.how, random() % 4 == 0});
            auto* const made = workers.make(sizeof(call), alignof(call));
            new (made->payload) call{&task, &all};
            made->function = [](void* payload) {
                const auto its = *static_cast<call*>(payload);
                work(*its.task, *its.all);
            };
            made->urgent = random() % 16 == 0;
            workers.submit(made, group, regions);
        }
        workers.wait(group);
        const auto ended = group.settle();
        ASSERT_FALSE(ended.cancelled);
        for (std::size_t each = 0; each < graph.size(); ++each)
            ASSERT_EQ(graph[each].result, expected[each].result)
                << "graph " << round << ", task " << each << ", seed " << seed;
        for (unsigned cell = 0; cell < cell_count; ++cell)
            ASSERT_EQ(all[cell], serial[cell]) << "graph " << round << ", cell " << cell;
    }
    EXPECT_EQ(memory.bytes_in_use(), 0u);
}

class random_graphs : public testing::TestWithParam<std::tuple<unsigned, unsigned>> {};
INSTANTIATE_TEST_SUITE_P(tasks, random_graphs,
                         testing::Combine(testing::Range(0u, 5u), testing::Values(1u, 2u, 3u, 7u, 16u, 48u, 64u)));

/// 10,000 by default; CAUSEWAY_TASK_GRAPHS says how many in all.
TEST_P(random_graphs, give_what_a_serial_run_gives) {
    const auto [policy_index, threads] = GetParam();
    const char* const wanted = std::getenv("CAUSEWAY_TASK_GRAPHS");
    const int all = wanted ? std::atoi(wanted) : 10000;
    run_graphs(policy_index, threads, threads == 7 ? 0 : 1, all / 35 + 1, 1000 * policy_index + threads);
}

} // namespace
