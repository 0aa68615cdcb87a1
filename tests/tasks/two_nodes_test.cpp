// SPDX-License-Identifier: Apache-2.0
// Pools of threads on a machine of two nodes, which is not there: its nodes are names, its memory lies anywhere.
#include "tasks/arena.hpp"
#include "tasks/pool.hpp"
#include "tasks/run_record.hpp"
#include "tasks/task.hpp"
#include "tasks/worker.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <numeric>
#include <span>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace causeway;
using namespace causeway::tasks;

class no_binder final : public page_binder {
  public:
    bool bind(void*, std::size_t, unsigned) override { return true; }
    bool interleave(void*, std::size_t) override { return true; }
    unsigned current_node() override { return 0; }
};

/// The policy `locality`, and the load that it last saw.
class noting_policy final : public policy {
  public:
    noting_policy(const topology::machine& machine, std::atomic<double>& seen)
        : m_inner(locality_policy(machine, {})), m_seen(seen) {}
    grouping group(const topology::machine& machine, std::span<const unsigned> node_of_worker) override {
        return m_inner->group(machine, node_of_worker);
    }
    bool reads_footprints() const override { return true; }
    unsigned deal(const deal_question& asked) const override {
        m_seen = std::accumulate(asked.backlog.begin(), asked.backlog.end(), 0.0);
        return m_inner->deal(asked);
    }

  private:
    std::unique_ptr<policy> m_inner;
    std::atomic<double>& m_seen;
};

struct two_nodes : testing::Test {
    two_nodes() {
        machine.nodes = {{0, 0, {0}}, {1, 0, {1}}};
        machine.cores = {{0, 0}, {1, 1}};
        machine.distances = {1, 2, 2, 1};
        machine.cache_bytes = 1; // every task is worth dealing
        memory = std::make_unique<arena>(machine, std::make_unique<no_binder>());
        for (auto& each : parts)
            each = reinterpret_cast<std::uintptr_t>(memory->allocate({part_bytes, distribution::coarse, 0, {}}));
        if (memory->addresses().node_of(parts[0]) != 0) std::swap(parts[0], parts[1]);
    }
    region of_node(unsigned node, std::uint64_t bytes = part_bytes, bool most_used = false) const {
        return {parts[node], bytes, access::footprint, most_used};
    }
    void start(const locality_rules& rules, const pool_options& options) {
        workers = std::make_unique<pool>(machine, memory->addresses(), locality_policy(machine, rules), options);
    }
    void spawn(task_group& group, std::function<void()> work, std::vector<region> regions, bool urgent = false) {
        using call = std::function<void()>;
        auto* const made = workers->make(sizeof(call), alignof(call));
        made->urgent = urgent;
        new (made->payload) call(std::move(work));
        made->function = [](void* payload) {
            auto& its = *static_cast<call*>(payload);
            its();
            its.~call();
        };
        made->destroy = [](void* payload) { static_cast<call*>(payload)->~call(); };
        workers->submit(made, group, regions);
    }
    static constexpr std::size_t part_bytes = 65536;
    static constexpr locality_rules by_paper{.load_term = false, .release = false};
    topology::machine machine;
    std::unique_ptr<arena> memory;
    std::array<std::uintptr_t, 2> parts{}; ///< of each node
    std::unique_ptr<pool> workers;
};

TEST_F(two_nodes, what_ran_is_no_load) {
    std::atomic<double> seen{0};
    workers = std::make_unique<pool>(machine, memory->addresses(), std::make_unique<noting_policy>(machine, seen),
                                     pool_options{2, 0, false});
    for (const bool urgent : {false, true}) {
        std::atomic<bool> go{false};
        task_group group(workers.get());
        for (unsigned each = 0; each < 100; ++each)
            spawn(group, [&] { go.wait(false); }, {of_node(0), of_node(1, part_bytes / 2)}, urgent);
        EXPECT_GT(seen, 0);
        go = true;
        go.notify_all();
        workers->wait(group);
        spawn(group, [] {}, {of_node(0)}, urgent);
        EXPECT_EQ(seen, 0) << (urgent ? "urgent" : "ordinary");
        workers->wait(group);
    }
}

TEST_F(two_nodes, what_is_dealt_to_one_where_no_thread_works_is_run_by_the_other) {
    for (const auto& rules : {by_paper, locality_rules{}}) {
        // Both places are those of threads of the program, of which only one is there.
        start(rules, {2, 2, false});
        std::atomic<int> ran{0};
        task_group group(workers.get());
        for (unsigned each = 0; each < 4; ++each) spawn(group, [&] { ++ran; }, {of_node(each % 2)});
        workers->wait(group);
        EXPECT_EQ(ran, 4);
        (void)group.settle();
    }
}

TEST_F(two_nodes, what_is_dealt_to_one_that_a_thread_leaves_is_run_by_the_other) {
    for (const auto& rules : {by_paper, locality_rules{}})
        for (int round = 0; round < 200; ++round) {
            start(rules, {2, 1, false});
            std::atomic<int> ran{0};
            task_group group(workers.get());
            // The caller's place is the first; while nobody waits, the pool's thread, on the other node, is alone.
            for (unsigned each = 0; each < 4; ++each) spawn(group, [&] { ++ran; }, {of_node(each % 2)});
            if (round % 2 == 0) {
                task_group other(workers.get());
                spawn(other, [] {}, {of_node(1)});
                workers->wait(other);
                (void)other.settle();
            }
            while (ran != 4) std::this_thread::yield();
            workers->wait(group);
            (void)group.settle();
        }
}

TEST_F(two_nodes, a_marked_region_says_where_a_task_is_dealt) {
    // The pool's thread is on node 1. What it runs was dealt there, or is taken from node 0, where nobody works.
    for (const bool is_marked : {false, true}) {
        start({}, {2, 1, false});
        run_record record;
        workers->set_record(&record);
        std::atomic<bool> ran{false};
        task_group group(workers.get());
        spawn(group, [&] { ran = true; }, {of_node(0), of_node(1, part_bytes / 2, is_marked)});
        while (!ran) std::this_thread::yield();
        workers->wait(group);
        (void)group.settle();
        workers->set_record(nullptr);
        ASSERT_EQ(record.tasks().size(), 1u);
        EXPECT_EQ(record.tasks()[0].worker, 1u);
        EXPECT_EQ(record.tasks()[0].way, is_marked ? came_by::deal : came_by::far_steal);
    }
}

TEST_F(two_nodes, waits_of_recursive_tasks_with_data_on_both_end) {
    for (const auto& rules : {by_paper, locality_rules{}})
        for (const unsigned callers : {0u, 1u, 2u}) {
            start(rules, {2, callers, false});
            std::atomic<int> ran{0};
            std::function<void(int)> grow = [&](int levels) {
                ++ran;
                if (levels == 0) return;
                task_group children(workers.get());
                for (unsigned each = 0; each < 3; ++each)
                    spawn(children, [&, levels] { grow(levels - 1); },
                          {of_node((each + static_cast<unsigned>(levels)) % 2)});
                workers->wait(children);
                (void)children.settle();
            };
            grow(7);
            EXPECT_EQ(ran, (2187 * 3 - 1) / 2);
        }
}

} // namespace
