// SPDX-License-Identifier: Apache-2.0
// Each allocation of a thread fails once, for all of them in turn: what was refused does not run, all else does.
#include <causeway/tasks.hpp>
#include <causeway/tasks_simulator.h>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <stdexcept>
#include <thread>
#include <vector>

#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__

namespace {

thread_local long t_allocations_left = -1; ///< of this thread, before one fails; negative: none does

bool fails_now() { return t_allocations_left >= 0 && t_allocations_left-- == 0; }

} // namespace

void* operator new(std::size_t bytes) {
    void* const memory = fails_now() ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
    if (!memory) throw std::bad_alloc();
    return memory;
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
    const auto unit = static_cast<std::size_t>(alignment);
    void* const memory = fails_now() ? nullptr : std::aligned_alloc(unit, (bytes + unit - 1) / unit * unit);
    if (!memory) throw std::bad_alloc();
    return memory;
}
// Not inlined: g++ would warn that what `new` gave is given to free().
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace {

constexpr std::array<causeway_task_policy, 3> policies = {
    CAUSEWAY_TASK_POLICY_WORK_STEALING, CAUSEWAY_TASK_POLICY_CENTRAL_QUEUE, CAUSEWAY_TASK_POLICY_LOCALITY};

TEST(exhausted_memory_of_each_call, refuses_the_task_and_runs_the_others_in_order) {
    constexpr int count = 24;
    for (const auto policy : policies) {
        long failures = 0;
        for (bool any = true; any; ++failures) {
            any = false;
            causeway::task_pool pool({.policy = policy, .threads = 2});
            std::array<int, 5> cells{};
            std::array<std::atomic<int>, count> ran{};
            std::array<bool, count> refused{};
            const auto content = std::make_shared<int>(0); // its count says whether payloads ended
            {
                causeway::task_group group(pool);
                long left = failures; // over all calls
                for (int each = 0; each < count; ++each) {
                    const auto first = static_cast<std::size_t>(each) % 3,
                               second = 3 + static_cast<std::size_t>(each) % 2;
                    const auto work = [&cells, &ran, each, first, content, large = std::array<int, 25>{}] {
                        cells[first] = each + large[0];
                        ++ran[static_cast<std::size_t>(each)];
                    };
                    t_allocations_left = left;
                    try {
                        group.spawn(work, {causeway::inout(&cells[first]), causeway::in(&cells[second])});
                    } catch (const std::bad_alloc&) {
                        refused[static_cast<std::size_t>(each)] = any = true;
                    }
                    left = t_allocations_left;
                    t_allocations_left = -1;
                }
                group.wait();
            }
            std::array<int, 5> expected{};
            for (int each = 0; each < count; ++each) {
                const auto which = static_cast<std::size_t>(each);
                ASSERT_EQ(ran[which], refused[which] ? 0 : 1) << "task " << each << ", allocation " << failures;
                if (!refused[which]) expected[which % 3] = each;
            }
            ASSERT_EQ(cells, expected) << "allocation " << failures;
            ASSERT_EQ(content.use_count(), 1) << "allocation " << failures;
        }
        EXPECT_GT(failures, count) << "a payload of its own for each";
    }
}

TEST(exhausted_memory_of_each_call, refuses_what_a_task_spawns_or_runs_it) {
    for (const bool ordered : {false, true}) {
        const int count = ordered ? 300 : 3000; // more than a deque begins with
        long failures = 0;
        for (bool any = true; any; ++failures) {
            causeway::task_pool pool({.policy = CAUSEWAY_TASK_POLICY_WORK_STEALING, .threads = 1});
            std::atomic<int> ran{0};
            int spawned = 0, cell = 0;
            causeway::task_group outer(pool);
            outer.spawn([&] {
                causeway::task_group inner(pool);
                t_allocations_left = failures;
                for (int each = 0; each < count; ++each) try {
                        if (ordered)
                            inner.spawn([&] { ++ran; }, {causeway::in(&cell)});
                        else
                            inner.spawn([&] { ++ran; });
                        ++spawned;
                    } catch (const std::bad_alloc&) {}
                any = t_allocations_left < 0;
                t_allocations_left = -1;
                inner.wait();
            });
            outer.wait();
            ASSERT_EQ(ran, spawned) << "allocation " << failures;
            ASSERT_GE(spawned, count - 1) << "allocation " << failures;
        }
        EXPECT_GT(failures, 8) << "slabs of tasks, and arrays of a deque";
    }
}

TEST(exhausted_memory_at_the_end_of_a_task, readies_all_that_waited_for_it) {
    constexpr int count = 3000;
    for (const int no_callers : {0, 1})
        for (long failures = 0; failures < 8; ++failures) {
            causeway::task_pool pool(
                {.policy = CAUSEWAY_TASK_POLICY_WORK_STEALING, .threads = 1, .no_callers = no_callers});
            std::atomic<int> ran{0};
            std::atomic<bool> all_wait{false};
            int cell = 0;
            causeway::task_group group(pool);
            group.spawn(
                [&] {
                    while (!all_wait) std::this_thread::yield();
                    t_allocations_left = failures;
                },
                {causeway::inout(&cell)});
            for (int each = 0; each < count; ++each) group.spawn([&] { ++ran; }, {causeway::in(&cell)});
            all_wait = true;
            EXPECT_NO_THROW(group.wait());
            t_allocations_left = -1;
            ASSERT_EQ(ran, count) << "allocation " << failures;
        }
}

TEST(exhausted_memory_of_each_call, refuses_tasks_that_a_program_deals_or_records) {
    constexpr int count = 20;
    for (const bool records : {false, true}) {
        long failures = 0;
        for (bool any = true; any; ++failures) {
            causeway_task_pool_options options{.threads = 2};
            if (!records) options.deal = [](void*, const causeway_deal*) { return 0; };
            causeway::task_pool pool(options);
            if (records) {
                ASSERT_EQ(causeway_task_record_begin(pool.get()), CAUSEWAY_TASKS_SUCCESS);
            }
            std::atomic<int> ran{0};
            int spawned = 0, cell = 0;
            causeway::task_group group(pool);
            t_allocations_left = failures;
            for (int each = 0; each < count; ++each) try {
                    group.spawn([&] { ++ran; }, {causeway::inout(&cell)});
                    ++spawned;
                } catch (const std::bad_alloc&) {}
            any = t_allocations_left < 0;
            t_allocations_left = -1;
            EXPECT_NO_THROW(group.wait());
            ASSERT_EQ(ran, spawned) << "allocation " << failures;
            ASSERT_GE(spawned, count - 1) << "allocation " << failures;
        }
        EXPECT_GT(failures, count) << "a node in the graph for each";
    }
}

TEST(exhausted_memory_of_each_call, refuses_held_tasks_and_runs_those_let_go) {
    long failures = 0;
    for (bool any = true; any; ++failures) {
        causeway::task_pool pool({.threads = 1});
        std::atomic<int> ran{0};
        std::vector<causeway_task*> held;
        held.reserve(20);
        int cell = 0;
        const std::array<causeway_region, 1> regions = {causeway::inout(&cell)};
        causeway::task_group group(pool);
        t_allocations_left = failures;
        for (int each = 0; each < 20; ++each) try {
                held.push_back(group.spawn_held([&] { ++ran; }, regions));
            } catch (const std::bad_alloc&) {}
        any = t_allocations_left < 0;
        for (auto* const each : held) group.let_go(each);
        t_allocations_left = -1;
        group.wait();
        ASSERT_EQ(ran, static_cast<int>(held.size())) << "allocation " << failures;
        ASSERT_GE(held.size(), 19u) << "allocation " << failures;
    }
    EXPECT_GT(failures, 40) << "a node and a hold for each";
}

TEST(exhausted_memory_of_each_call, throws_nothing_while_it_tells_the_cause) {
    causeway::task_pool pool({.threads = 1});
    for (long failures = 0; failures < 8; ++failures) {
        int code = 0;
        std::thread([&] { // whose last error has no room yet
            t_allocations_left = failures;
            EXPECT_NO_THROW(code = causeway_task_spawn(nullptr, [](void*) {}, nullptr, nullptr, 0));
            t_allocations_left = -1;
        })
            .join();
        EXPECT_LT(code, 0) << "allocation " << failures;
        causeway::task_group group(pool);
        const auto fail = [](void*) -> void { throw std::runtime_error("a text that needs memory of its own"); };
        ASSERT_EQ(causeway_task_spawn(group.get(), fail, nullptr, nullptr, 0), CAUSEWAY_TASKS_SUCCESS);
        std::thread([&] {
            t_allocations_left = failures;
            EXPECT_NO_THROW(code = causeway_task_group_wait(group.get()));
            t_allocations_left = -1;
        }).join();
        EXPECT_EQ(code, CAUSEWAY_TASKS_FAILED) << "allocation " << failures;
    }
}

TEST(exhausted_memory_of_each_call, makes_no_pool_and_ends_its_threads) {
    long failures = 0;
    for (bool any = true; any; ++failures) {
        causeway_task_pool* pool = nullptr;
        const causeway_task_pool_options options{.policy = CAUSEWAY_TASK_POLICY_LOCALITY, .threads = 3};
        t_allocations_left = failures;
        const int code = causeway_task_pool_create(&options, &pool);
        t_allocations_left = -1;
        any = code != CAUSEWAY_TASKS_SUCCESS;
        if (any) {
            ASSERT_EQ(code, CAUSEWAY_TASKS_OUT_OF_MEMORY) << "allocation " << failures;
        }
        causeway_task_pool_release(pool);
        ASSERT_LT(failures, 1000);
    }
    EXPECT_GT(failures, 5);
}

} // namespace

#endif
