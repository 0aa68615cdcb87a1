// SPDX-License-Identifier: Apache-2.0
// Waits in tasks that other tasks wait for: no order in which a thread finds tasks may keep a program from its end.
#include <causeway/tasks.hpp>

#include <gtest/gtest.h>

#include <ucontext.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <random>
#include <span>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace causeway;

class waits : public testing::TestWithParam<causeway_task_policy> {};
INSTANTIATE_TEST_SUITE_P(tasks, waits,
                         testing::Values(CAUSEWAY_TASK_POLICY_WORK_STEALING, CAUSEWAY_TASK_POLICY_CENTRAL_QUEUE,
                                         CAUSEWAY_TASK_POLICY_LOCALITY, CAUSEWAY_TASK_POLICY_LOCALITY_PAPER));

TEST_P(waits, do_not_run_what_waits_for_their_own_tasks) {
    for (const unsigned threads : {1u, 2u, 3u}) {
        task_pool pool({.policy = GetParam(), .threads = threads});
        task_group all(pool), late(pool);
        int value = 0, seen = 0;
        auto* const held = late.spawn_held([&] { ++value; });
        all.spawn([&] {
            task_group inner(pool);
            inner.spawn([] {});
            for (unsigned each = 0; each < threads; ++each) all.spawn([] {});
            all.spawn([&] { // on top of the wait below neither would end
                late.wait();
                seen = value;
            });
            inner.wait();
            late.let_go(held);
        });
        all.wait();
        EXPECT_EQ(seen, 1);
    }
}

TEST_P(waits, of_a_thread_of_the_program_do_not_run_what_waits_for_it) {
    for (const unsigned threads : {1u, 2u}) {
        task_pool pool({.policy = GetParam(), .threads = threads});
        task_group first(pool), others(pool), late(pool);
        int value = 0;
        auto* const held = late.spawn_held([&] { ++value; });
        first.spawn([] {});
        for (unsigned each = 0; each < threads; ++each) first.spawn([] {});
        others.spawn([&] { late.wait(); });
        first.wait();
        late.let_go(held);
        others.wait();
        EXPECT_EQ(value, 1);
    }
}

TEST_P(waits, leave_their_slots_to_tasks_that_end_them) {
    task_pool pool({.policy = GetParam(), .threads = 3, .no_callers = 1});
    std::array<std::unique_ptr<task_group>, 3> groups;
    std::array<causeway_task*, 3> held{};
    std::atomic<int> waiting{0};
    task_group all(pool);
    for (std::size_t each = 0; each < 3; ++each) {
        groups[each] = std::make_unique<task_group>(pool);
        held[each] = groups[each]->spawn_held([] {});
        all.spawn([&, each] {
            ++waiting;
            groups[each]->wait();
        });
    }
    while (waiting != 3) std::this_thread::yield();
    task_group enders(pool);
    for (std::size_t each = 0; each < 3; ++each) enders.spawn([&, each] { groups[each]->let_go(held[each]); });
    enders.wait();
    all.wait();
}

/// Tasks wait for tasks of lower numbers, in whichever order they are spawned: as threads they would end.
void run_web(const causeway_task_pool_options& options, std::mt19937_64& random) {
    const auto below = [&](std::size_t limit) { return static_cast<std::size_t>(random() % limit); };
    task_pool pool(options);
    constexpr std::size_t count = 60;
    struct knot {
        std::vector<std::size_t> waits_for;                         ///< edges
        std::vector<std::pair<std::size_t, causeway_task*>> lets_go; ///< edge, and its task
    };
    std::vector<knot> knots(count);
    std::vector<std::unique_ptr<task_group>> edges;
    for (std::size_t each = 1; each < count; ++each)
        for (auto more = below(4); more > 0; --more) {
            edges.push_back(std::make_unique<task_group>(pool));
            knots[below(each)].lets_go.emplace_back(edges.size() - 1, edges.back()->spawn_held([] {}));
            knots[each].waits_for.push_back(edges.size() - 1);
        }
    std::vector<std::size_t> order(count);
    for (std::size_t each = 0; each < count; ++each) std::swap(order[each] = each, order[below(each + 1)]);
    std::atomic<std::size_t> ran{0};
    task_group all(pool);
    const auto run = [&](std::size_t which) {
        for (const auto edge : knots[which].waits_for) edges[edge]->wait();
        for (const auto& [edge, task] : knots[which].lets_go) edges[edge]->let_go(task);
        ++ran;
    };
    const auto spawn = [&](std::size_t from, std::size_t to) {
        for (auto each = from; each < to; ++each) all.spawn([&run, which = order[each]] { run(which); });
    };
    all.spawn([&] { spawn(0, count / 2); });
    spawn(count / 2, count);
    all.wait();
    EXPECT_EQ(ran, count);
}

TEST_P(waits, of_tasks_for_each_other_end_in_any_order) {
    std::mt19937_64 random(static_cast<unsigned>(GetParam()));
    for (const unsigned threads : {1u, 2u, 5u})
        for (const int no_callers : {0, 1})
            for (int round = 0; round < 10; ++round)
                run_web({.policy = GetParam(), .threads = threads, .no_callers = no_callers}, random);
}

TEST_P(waits, that_are_under_way_when_a_pool_is_released_end) {
    for (const unsigned threads : {1u, 2u}) {
        std::atomic<int> waiting{0}, ran{0};
        std::array<std::unique_ptr<task_group>, 4> groups;
        std::unique_ptr<task_group> all;
        {
            task_pool pool({.policy = GetParam(), .threads = threads, .no_callers = 1});
            all = std::make_unique<task_group>(pool);
            for (auto& group : groups) {
                group = std::make_unique<task_group>(pool);
                (void)group->spawn_held([&] { ++ran; });
                all->spawn([&] {
                    ++waiting;
                    try {
                        group->wait();
                    } catch (const tasks_error&) {
                        --waiting;
                    }
                });
            }
            while (waiting != 4) std::this_thread::yield();
        }
        EXPECT_EQ(waiting, 0);
        EXPECT_EQ(ran, 0);
        all->wait();
    }
}

TEST_P(waits, of_what_destroys_a_payload_end) {
    for (const unsigned threads : {1u, 2u}) {
        task_pool pool({.policy = GetParam(), .threads = threads, .no_callers = 1});
        task_group cancelled(pool), others(pool);
        auto owned = std::make_shared<task_group>(pool);
        auto& inner = *owned;
        bool ran = false;
        auto* const held = inner.spawn_held([&] { ran = true; });
        auto* const dropped = cancelled.spawn_held([owned] { FAIL(); });
        owned.reset();
        cancelled.cancel();
        cancelled.let_go(dropped); // its payload has the last owner of `inner`, whose destructor waits
        others.spawn([&] { inner.let_go(held); });
        others.wait();
        EXPECT_THROW(cancelled.wait(), tasks_error);
        EXPECT_TRUE(ran);
    }
}

/// Calls `function` with its frames in `stack`.
void call_on(std::span<std::byte> stack, const std::function<void()>& function) {
    static thread_local const std::function<void()>* called = nullptr;
    called = &function;
    ucontext_t here{}, there{};
    ::getcontext(&there);
    there.uc_stack.ss_sp = stack.data();
    there.uc_stack.ss_size = stack.size();
    there.uc_link = &here;
    ::makecontext(&there, [] { (*called)(); }, 0);
    ::swapcontext(&here, &there);
}

TEST_P(waits, do_not_take_a_group_beside_a_coroutines_stack_for_one_on_the_tasks) {
    task_pool pool({.policy = GetParam(), .threads = 1});
    // Both below the program's stack, where the task runs: the group is above the frame that makes it, too.
    constexpr std::size_t stack_bytes = 256u << 10;
    std::vector<std::byte> memory(stack_bytes + sizeof(task_group) + alignof(task_group));
    void* place = memory.data() + stack_bytes;
    std::size_t room = memory.size() - stack_bytes;
    place = std::align(alignof(task_group), sizeof(task_group), place, room);
    task_group first(pool), late(pool);
    task_group* elsewhere = nullptr;
    auto* const held = late.spawn_held([] {});
    first.spawn([&] {
        first.spawn([] {});
        call_on(std::span(memory).first(stack_bytes), [&] {
            elsewhere = new (place) task_group(pool);
            elsewhere->spawn([&] { late.wait(); }); // `first` does not need it: on top of the wait below none would end
        });
    });
    first.wait();
    late.let_go(held);
    elsewhere->wait();
    elsewhere->~task_group();
}

TEST_P(waits, for_a_lock_of_their_spawner_end_if_tasks_are_let_go) {
    for (const unsigned threads : {1u, 2u}) {
        task_pool pool({.policy = GetParam(), .threads = threads});
        task_group all(pool);
        constexpr int count = 10000; // more than a queue takes before spawn() runs tasks
        std::mutex lock;
        int ran = 0, ordered = 0;
        all.spawn([&] {
            const std::lock_guard mine(lock);
            const auto run = [&] {
                const std::lock_guard its(lock);
                ++ran;
            };
            const auto order = inout(&ordered);
            for (int each = 0; each < count; ++each) {
                all.let_go(all.spawn_held(run));
                all.let_go(all.spawn_held(run, {&order, 1}));
            }
        });
        all.wait();
        EXPECT_EQ(ran, 2 * count);
    }
}

} // namespace
