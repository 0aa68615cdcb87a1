// SPDX-License-Identifier: Apache-2.0
// Distributions on machines of several nodes, with a binder that notes what it is asked: no page moves here.
#include "base/error.hpp"
#include "tasks/arena.hpp"
#include "tasks/footprint.hpp"
#include "topology/machine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

using namespace causeway;
using namespace causeway::tasks;

/// Which node each page was bound to.
class noting_binder final : public page_binder {
  public:
    struct notes {
        std::map<std::uintptr_t, unsigned> node_of_page;
        std::vector<unsigned> interleaved; ///< positions of nodes with cores, in the order of the system's numbers
        unsigned here = 0, calls = 0;
        bool refuses = false;
    };
    explicit noting_binder(notes& to) : m_notes(to) {}
    bool bind(void* address, std::size_t bytes, unsigned node) override {
        const std::lock_guard lock(m_mutex);
        ++m_notes.calls;
        for (std::size_t each = 0; each < bytes; each += 4096)
            m_notes.node_of_page[reinterpret_cast<std::uintptr_t>(address) + each] = node;
        return !m_notes.refuses;
    }
    bool interleave(void* address, std::size_t bytes) override {
        const std::lock_guard lock(m_mutex);
        ++m_notes.calls;
        // As Linux 6.1 does: by the low 32 bits of the page's number.
        for (std::size_t each = 0; each < bytes; each += 4096) {
            const auto page = reinterpret_cast<std::uintptr_t>(address) + each;
            m_notes.node_of_page[page] = m_notes.interleaved[static_cast<std::uint32_t>(page / 4096) %
                                                             m_notes.interleaved.size()];
        }
        return !m_notes.refuses;
    }
    unsigned current_node() override { return m_notes.here; }

  private:
    notes& m_notes;
    std::mutex m_mutex; // guards m_notes while threads allocate
};

struct several_nodes : testing::Test {
    void SetUp() override { take(topology::opteron_48()); }
    void take(topology::machine made, std::uintptr_t wanted = 4ull << 40) {
        machine = std::move(made);
        std::map<unsigned, unsigned> by_number;
        for (unsigned node = 0; node < machine.nodes.size(); ++node)
            if (!machine.nodes[node].cores.empty()) by_number[machine.nodes[node].os_index] = node;
        notes.interleaved.clear();
        for (const auto& [number, node] : by_number) notes.interleaved.push_back(node);
        memory = std::make_unique<arena>(machine, std::make_unique<noting_binder>(notes), wanted);
    }
    /// Where sanitizers have their own memory below 16 TiB, pages are bound one by one.
    static bool is_high(void* address) { return reinterpret_cast<std::uintptr_t>(address) >= 16ull << 40; }
    int node_of(void* address, std::size_t offset = 0) const {
        return memory->addresses().node_of(reinterpret_cast<std::uintptr_t>(address) + offset);
    }
    void expect_as_bound(void* address, std::size_t bytes) const {
        for (std::size_t each = 0; each < bytes; each += 4096)
            ASSERT_EQ(node_of(address, each),
                      static_cast<int>(notes.node_of_page.at(reinterpret_cast<std::uintptr_t>(address) + each)))
                << each;
    }
    std::vector<std::uint64_t> counts(void* address, std::size_t from, std::size_t bytes) const {
        std::vector<std::uint64_t> found(machine.nodes.size());
        memory->addresses().count({reinterpret_cast<std::uintptr_t>(address) + from, bytes, tasks::access::in, false},
                                  found.data());
        return found;
    }
    topology::machine machine;
    noting_binder::notes notes;
    std::unique_ptr<arena> memory;
};

TEST_F(several_nodes, fine_spreads_pages_round_robin_with_one_call) {
    auto* const made = memory->allocate({100 * 4096, distribution::fine, 0, {}});
    EXPECT_EQ(notes.calls, 1u);
    expect_as_bound(made, 100 * 4096);
    for (std::size_t each = 8; each < 100; ++each)
        ASSERT_EQ(node_of(made, each * 4096), node_of(made, (each - 8) * 4096));
    const auto all = counts(made, 0, 96 * 4096);
    EXPECT_EQ(all, std::vector<std::uint64_t>(8, 12 * 4096));
}

TEST_F(several_nodes, coarse_spreads_allocations_round_robin) {
    std::vector<int> nodes;
    for (int each = 0; each < 16; ++each) {
        auto* const made = memory->allocate({5000, distribution::coarse, 0, {}});
        expect_as_bound(made, 5000);
        nodes.push_back(node_of(made));
        EXPECT_EQ(node_of(made, 4999), nodes.back());
    }
    for (int each = 0; each < 8; ++each) {
        EXPECT_EQ(std::count(nodes.begin(), nodes.begin() + 8, each), 1);
        EXPECT_EQ(nodes[static_cast<std::size_t>(each)], nodes[static_cast<std::size_t>(each) + 8]);
    }
}

TEST_F(several_nodes, local_takes_the_node_of_the_thread) {
    notes.here = 5;
    auto* const made = memory->allocate({3 * 4096, distribution::local, 0, {}});
    expect_as_bound(made, 3 * 4096);
    EXPECT_EQ(node_of(made), 5);
}

TEST_F(several_nodes, units_may_be_larger_than_pages) {
    auto* const made = memory->allocate({10 * 65536, distribution::fine, 65536, {}});
    expect_as_bound(made, 10 * 65536);
    EXPECT_EQ(notes.calls, 10u);
    for (std::size_t each = 0; each < 9; ++each)
        EXPECT_EQ((node_of(made, each * 65536) + 1) % 8, node_of(made, (each + 1) * 65536));
    auto* const huge = memory->allocate({3 << 20, distribution::fine, 2 << 20, {}});
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(huge) % (2 << 20), 0u) << "a huge page has one node";
    EXPECT_THROW((void)memory->allocate({1, distribution::fine, 5000, {}}), transfer_error);
}

TEST_F(several_nodes, a_placement_of_the_program_is_asked_and_bound) {
    auto* const made = memory->allocate(
        {20 * 4096, distribution::plugin, 0, [](std::uint64_t unit, std::uint64_t units, unsigned nodes) {
             return static_cast<unsigned>(unit * nodes / units);
         }});
    expect_as_bound(made, 20 * 4096);
    EXPECT_EQ(node_of(made), 0);
    EXPECT_EQ(node_of(made, 19 * 4096), 7);
}

TEST_F(several_nodes, a_placement_that_throws_gives_no_memory_and_loses_no_addresses) {
    const auto refused = [](std::uint64_t unit, std::uint64_t, unsigned) -> unsigned {
        if (unit == 3) throw std::runtime_error("no such unit");
        return 0;
    };
    void* const here = memory->allocate({1 << 20, distribution::coarse, 0, {}});
    memory->release(here);
    EXPECT_THROW((void)memory->allocate({1 << 20, distribution::plugin, 0, refused}), std::runtime_error);
    EXPECT_EQ(memory->bytes_in_use(), 0u);
    EXPECT_EQ(memory->allocate({1 << 20, distribution::coarse, 0, {}}), here);
}

TEST_F(several_nodes, memory_without_cores_and_forbidden_nodes_get_nothing) {
    auto odd = topology::opteron_48();
    odd.nodes[2].cores.clear();
    odd.nodes[5].cores.clear();
    take(odd);
    for (const auto how : {distribution::fine, distribution::coarse, distribution::plugin})
        for (int round = 0; round < 8; ++round) {
            notes.calls = 0;
            auto* const made = memory->allocate({64 * 4096, how, 0, [](std::uint64_t unit, std::uint64_t, unsigned) {
                                                     return static_cast<unsigned>(unit);
                                                 }});
            expect_as_bound(made, 64 * 4096);
            // Each further call may cost the process a mapping.
            EXPECT_TRUE(how == distribution::plugin || notes.calls == 1 || is_high(made)) << notes.calls;
            const auto all = counts(made, 0, 64 * 4096);
            EXPECT_EQ(all[2] + all[5], 0u);
            EXPECT_EQ(std::accumulate(all.begin(), all.end(), std::uint64_t{0}), 64u * 4096);
        }
}

TEST_F(several_nodes, fine_follows_the_systems_numbers_of_nodes) {
    auto permuted = topology::opteron_48();
    for (unsigned node = 0; node < 8; ++node) permuted.nodes[node].os_index = 20 - 3 * node % 8;
    for (const bool all : {true, false}) {
        if (!all) permuted.nodes[3].cores.clear();
        take(permuted);
        notes.calls = 0;
        auto* const made = memory->allocate({64 * 4096, distribution::fine, 0, {}});
        EXPECT_TRUE(notes.calls == 1 || is_high(made)) << notes.calls;
        expect_as_bound(made, 64 * 4096);
        const auto found = counts(made, 0, 56 * 4096);
        for (unsigned node = 0; node < 8; ++node)
            EXPECT_EQ(found[node], (all ? 7u : node == 3 ? 0u : 8u) * 4096) << node;
    }
}

TEST_F(several_nodes, fine_is_bound_page_by_page_where_systems_differ) {
    auto odd = topology::opteron_48();
    odd.nodes[2].cores.clear();
    take(odd, 16ull << 40);
    auto* const made = memory->allocate({64 * 4096, distribution::fine, 0, {}});
    expect_as_bound(made, 64 * 4096);
    EXPECT_EQ(notes.calls, 64u);
}

TEST_F(several_nodes, what_the_system_refuses_to_bind_is_counted) {
    notes.refuses = true;
    (void)memory->allocate({4096, distribution::coarse, 0, {}});
    EXPECT_EQ(memory->unbound(), 1u);
}

TEST_F(several_nodes, bytes_per_node_are_those_of_each_byte) {
    std::mt19937 random(7);
    std::vector<void*> blocks;
    for (int each = 0; each < 30; ++each)
        blocks.push_back(memory->allocate(
            {1 + random() % 200000, static_cast<distribution>(1 + random() % 3), each % 3 == 0 ? 16384u : 0u, {}}));
    for (int round = 0; round < 300; ++round) {
        auto* const block = blocks[random() % blocks.size()];
        const std::size_t from = random() % 100000, bytes = 1 + random() % 100000;
        std::vector<std::uint64_t> expected(8);
        for (std::size_t each = 0; each < bytes; ++each)
            if (const int node = node_of(block, from + each); node >= 0) ++expected[static_cast<std::size_t>(node)];
        ASSERT_EQ(counts(block, from, bytes), expected);
    }
}

TEST_F(several_nodes, freed_addresses_are_unknown_and_come_again) {
    std::mt19937 random(3);
    std::vector<void*> live;
    for (int round = 0; round < 3000; ++round) {
        if (live.size() < 20 || random() % 2) {
            live.push_back(
                memory->allocate({1 + random() % 300000, static_cast<distribution>(1 + random() % 3), 0, {}}));
            static_cast<char*>(live.back())[0] = 1;
        } else {
            std::swap(live[random() % live.size()], live.back());
            ASSERT_TRUE(memory->release(live.back()));
            ASSERT_EQ(node_of(live.back()), -1);
            ASSERT_THROW(memory->release(live.back()), transfer_error) << "twice";
            live.pop_back();
        }
    }
    for (auto* each : live) ASSERT_TRUE(memory->release(each));
    EXPECT_EQ(memory->bytes_in_use(), 0u);
    int stranger = 0;
    EXPECT_FALSE(memory->release(&stranger));
}

TEST_F(several_nodes, an_allocation_takes_the_smallest_hole_that_fits) {
    const auto take_pages = [&](std::size_t pages) {
        return memory->allocate({pages * 4096, distribution::coarse, 0, {}});
    };
    auto *const large = take_pages(3), *const first = take_pages(1), *const small = take_pages(1),
                *const second = take_pages(1);
    EXPECT_TRUE(memory->release(large));
    EXPECT_TRUE(memory->release(small));
    EXPECT_EQ(take_pages(1), small);
    EXPECT_EQ(take_pages(3), large);
    for (auto* const each : {large, first, small, second}) EXPECT_TRUE(memory->release(each));
}

/// Of the process, which may have few (vm.max_map_count).
long mappings() {
    std::ifstream maps("/proc/self/maps");
    return std::count(std::istreambuf_iterator<char>(maps), {}, '\n');
}

TEST_F(several_nodes, single_pages_that_are_freed_take_no_mappings) {
    constexpr std::size_t count = 4000;
    std::vector<char*> pages;
    for (std::size_t each = 0; each < count; ++each) {
        pages.push_back(static_cast<char*>(memory->allocate({4096, distribution::coarse, 0, {}})));
        *pages.back() = 1;
    }
    const auto before = mappings();
    ASSERT_GT(before, 0);
    for (std::size_t each = 0; each < count; each += 2) EXPECT_TRUE(memory->release(pages[each]));
    EXPECT_LT(mappings(), before + static_cast<long>(count) / 4);
    for (std::size_t each = 0; each < count; each += 2) {
        pages[each] = static_cast<char*>(memory->allocate({4096, distribution::coarse, 0, {}}));
        ASSERT_EQ(*pages[each], 0) << each;
        expect_as_bound(pages[each], 4096);
    }
    for (auto* const each : pages) EXPECT_TRUE(memory->release(each));
    EXPECT_EQ(memory->bytes_in_use(), 0u);
}

TEST_F(several_nodes, threads_allocate_ask_and_free_at_once) {
    std::vector<std::thread> threads;
    for (unsigned thread = 0; thread < 4; ++thread)
        threads.emplace_back([&, thread] {
            std::mt19937 random(thread);
            for (int round = 0; round < 500; ++round) {
                auto* const made = static_cast<char*>(
                    memory->allocate({1 + random() % 50000, distribution::local, 0, {}}));
                if (node_of(made) != 0) std::abort();
                made[0] = 1;
                memory->release(made);
            }
        });
    for (auto& each : threads) each.join();
    EXPECT_EQ(memory->bytes_in_use(), 0u);
}

TEST_F(several_nodes, looking_up_calls_nothing_of_the_program) {
    // A placement, and what it looks at, may be gone in the moment in which another thread frees the memory.
    unsigned calls = 0;
    auto* const made = memory->allocate(
        {20 * 4096, distribution::plugin, 2 * 4096, [&](std::uint64_t unit, std::uint64_t, unsigned nodes) {
             ++calls;
             return static_cast<unsigned>((3 * unit) % nodes);
         }});
    const auto before = calls;
    EXPECT_EQ(node_of(made, 7 * 4096), 1); // unit 3
    EXPECT_EQ(counts(made, 4096, 3 * 4096), (std::vector<std::uint64_t>{4096, 0, 0, 2 * 4096, 0, 0, 0, 0}));
    EXPECT_EQ(calls, before);
    memory->release(made);
}

// To be seen by a sanitizer, too.
TEST_F(several_nodes, threads_ask_for_memory_that_another_one_frees) {
    std::atomic<std::uintptr_t> shown{0};
    std::atomic<bool> over{false};
    std::vector<std::thread> threads;
    for (unsigned thread = 0; thread < 2; ++thread)
        threads.emplace_back([&] {
            footprint found;
            while (!over) {
                const auto address = shown.load();
                const int node = memory->addresses().node_of(address);
                if (node < -1 || node >= 8) std::abort();
                const std::vector<region> regions{{address, 8 * 4096, tasks::access::in, true}};
                found.measure(memory->addresses(), regions, 8);
                if (found.bytes > 8 * 4096 || found.most_used_node >= 8) std::abort();
            }
        });
    std::mt19937 random(1);
    for (int round = 0; round < 3000; ++round) {
        const auto how = static_cast<distribution>(1 + random() % 4);
        const std::size_t bytes = 8 * 4096 + random() % 100000;
        auto nodes = std::make_unique<std::vector<unsigned>>(bytes / 4096 + 1, random() % 8);
        const auto place = [its = nodes.get()](std::uint64_t unit, std::uint64_t, unsigned) { return its->at(unit); };
        void* const made = memory->allocate({bytes, how, 0, place});
        shown = reinterpret_cast<std::uintptr_t>(made);
        memory->release(made);
    }
    over = true;
    for (auto& each : threads) each.join();
}

TEST_F(several_nodes, dealing_goes_to_the_cheapest_node_and_round_full_ones) {
    machine.cache_bytes = 600; // six cores share it
    const auto rules = locality_policy(machine, {});
    std::vector<unsigned> node_of_worker;
    for (const auto& core : machine.cores) node_of_worker.push_back(core.node);
    const auto groups = rules->group(machine, node_of_worker);
    ASSERT_EQ(groups.groups(), 8u);
    std::vector<std::uint64_t> bytes(8);
    std::vector<double> backlog(8);
    const auto dealt = [&] {
        const auto sum = std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0});
        return rules->deal({bytes, sum, sum, -1, 0, backlog});
    };
    bytes[6] = 1 << 20;
    EXPECT_EQ(dealt(), 6u);
    backlog[6] = 1 << 19;
    EXPECT_EQ(dealt(), 6u) << "the next one is farther than the queue is long";
    backlog[6] = 1 << 20;
    EXPECT_NE(dealt(), 6u) << "the queue is longer than the way to the next one";
    bytes.assign(8, 1 << 20);
    EXPECT_EQ(dealt(), own_queue) << "the same everywhere";
    bytes.assign(8, 0);
    bytes[3] = 100;
    EXPECT_EQ(dealt(), own_queue) << "too little";
    // The standard deviation of all nodes, not of the last one: alike at the end, unlike at the begin.
    bytes = {9 << 20, 0, 0, 0, 0, 0, 0, 0};
    backlog.assign(8, 0);
    EXPECT_EQ(dealt(), 0u);
    // A marked region stands for the task.
    const auto dealt_with_mark = [&](int node, std::uint64_t marked) {
        const auto sum = std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0});
        return rules->deal({bytes, sum, sum, node, 0, backlog, marked});
    };
    bytes = {9 << 20, 0, 0, 0, 0, 1 << 20, 0, 0};
    EXPECT_EQ(dealt_with_mark(5, 1 << 20), 5u);
    backlog[5] = 1 << 20;
    EXPECT_NE(dealt_with_mark(5, 1 << 20), 5u) << "the queue is longer than the way to the next one";
    for (unsigned group = 0; group < 8; ++group) {
        double last = 0;
        for (const auto& victim : groups.victims[group]) {
            const auto distance = machine.distance(group, victim.group);
            EXPECT_GE(distance, last) << "near ones first";
            EXPECT_DOUBLE_EQ(victim.spared, distance * 6);
            last = distance;
        }
    }
}

TEST(one_node, makes_locality_work_stealing) {
    auto machine = topology::opteron_48();
    machine.nodes.resize(1);
    machine.cores.resize(6);
    machine.distances = {1};
    const std::vector<unsigned> node_of_worker(6);
    for (const bool by_paper : {false, true}) {
        const auto rules = locality_policy(machine, {.load_term = !by_paper, .release = !by_paper});
        EXPECT_EQ(rules->group(machine, node_of_worker).groups(), 1u);
        EXPECT_FALSE(rules->reads_footprints()) << "regions are measured for nothing";
        EXPECT_FALSE(rules->deals());
    }
}

/// For people: the bars are 150 ns for a deal of 8 regions on 8 nodes and 20 ns for the node of an address.
TEST_F(several_nodes, times_of_a_deal_and_of_a_look_up) {
    machine.cache_bytes = 1;
    const auto rules = locality_policy(machine, {});
    std::vector<unsigned> node_of_worker;
    for (const auto& core : machine.cores) node_of_worker.push_back(core.node);
    (void)rules->group(machine, node_of_worker);
    std::vector<region> regions;
    for (int each = 0; each < 8; ++each)
        regions.push_back({reinterpret_cast<std::uintptr_t>(memory->allocate({65536, distribution::coarse, 0, {}})),
                           65536 - 8192u * (each % 3), tasks::access::in, false});
    footprint found;
    const std::vector<double> backlog(8);
    unsigned sum = 0;
    double deal = 1e9, look_up = 1e9;
    for (int round = 0; round < 7; ++round) {
        constexpr int count = 20000;
        auto begin = std::chrono::steady_clock::now();
        for (int each = 0; each < count; ++each) {
            found.measure(memory->addresses(), regions, 8);
            sum += rules->deal(found.question(0, backlog));
        }
        const auto seconds = [&] {
            return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        };
        deal = std::min(deal, seconds() / count);
        begin = std::chrono::steady_clock::now();
        for (int each = 0; each < count; ++each)
            sum += static_cast<unsigned>(memory->addresses().node_of(regions[static_cast<std::size_t>(each) % 8].begin +
                                                                     static_cast<std::size_t>(each) % 65536));
        look_up = std::min(look_up, seconds() / count);
    }
    std::printf("a deal %.0f ns, a look-up %.1f ns\n", deal * 1e9, look_up * 1e9);
    EXPECT_NE(sum, 0u);
}

} // namespace
