// SPDX-License-Identifier: Apache-2.0
// causeway/tasks.h and tasks.hpp as a program uses them.
#include <causeway/omp_malloc.h>
#include <causeway/tasks.hpp>

#include <gtest/gtest.h>

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace causeway;

const std::vector<causeway_task_policy> policies = {CAUSEWAY_TASK_POLICY_WORK_STEALING,
                                                    CAUSEWAY_TASK_POLICY_CENTRAL_QUEUE, CAUSEWAY_TASK_POLICY_LOCALITY,
                                                    CAUSEWAY_TASK_POLICY_LOCALITY_PAPER};

long fib(task_pool& pool, int n) {
    if (n < 2) return n;
    long left = 0;
    task_group both(pool);
    both.spawn([&, n] { left = fib(pool, n - 1); });
    const long right = fib(pool, n - 2);
    both.wait();
    return left + right;
}

class every_policy : public testing::TestWithParam<causeway_task_policy> {};
INSTANTIATE_TEST_SUITE_P(tasks, every_policy, testing::ValuesIn(policies));

TEST_P(every_policy, runs_recursion) {
    for (const unsigned threads : {1u, 2u, 5u}) {
        task_pool pool({.policy = GetParam(), .threads = threads});
        EXPECT_EQ(fib(pool, 18), 2584);
    }
}

TEST_P(every_policy, runs_distributed_data_through_tasks_with_footprints) {
    task_pool pool({.policy = GetParam(), .threads = 3});
    std::vector<int*> lists(24);
    for (auto& list : lists) {
        list = static_cast<int*>(causeway_malloc(50000 * sizeof(int), CAUSEWAY_DISTRIBUTION_COARSE));
        ASSERT_NE(list, nullptr);
        for (int each = 0; each < 50000; ++each) list[each] = each;
    }
    task_group all(pool);
    for (int round = 0; round < 3; ++round)
        for (auto* list : lists)
            all.spawn(
                [list] {
                    for (int each = 0; each < 50000; ++each) list[each] = 3 * list[each] + 1;
                },
                {inout(list, 50000)});
    all.wait();
    for (auto* list : lists) {
        for (int each = 0; each < 50000; ++each) ASSERT_EQ(list[each], 27 * each + 13);
        causeway_free(list);
    }
}

TEST_P(every_policy, gives_a_waiter_the_first_exception_and_skips_the_rest) {
    task_pool pool({.policy = GetParam(), .threads = 2});
    task_group group(pool);
    int order = 0;
    std::atomic<int> ran{0};
    group.spawn([] { throw std::runtime_error("no such row"); }, {inout(&order)});
    for (int each = 0; each < 100; ++each) group.spawn([&] { ++ran; }, {inout(&order)});
    try {
        group.wait();
        FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "no such row");
    }
    EXPECT_EQ(ran, 0);
    group.spawn([&] { ++ran; });
    group.wait();
    EXPECT_EQ(ran, 1) << "a group may be used again";
}

TEST(tasks, a_task_of_c_that_throws_fails_its_group) {
    task_pool pool({.threads = 2});
    causeway_task_group group;
    causeway_task_group_init(&group, pool.get());
    ASSERT_EQ(causeway_task_spawn(&group, [](void*) { throw 7; }, nullptr, nullptr, 0), CAUSEWAY_TASKS_SUCCESS);
    EXPECT_EQ(causeway_task_group_wait(&group), CAUSEWAY_TASKS_FAILED);
    EXPECT_NE(std::string(causeway_tasks_last_error()).find("threw"), std::string::npos);
    causeway_task_group_release(&group);
}

TEST(tasks, cancelled_ones_do_not_run_and_their_payloads_end) {
    task_pool pool({.threads = 1});
    const auto witness = std::make_shared<int>(0);
    {
        task_group group(pool);
        for (int each = 0; each < 10; ++each) group.spawn([witness] { ++*witness; });
        group.cancel();
        try {
            group.wait();
            FAIL() << "no word of the cancellation";
        } catch (const tasks_error& error) {
            EXPECT_EQ(error.code(), CAUSEWAY_TASKS_CANCELLED);
        }
    }
    EXPECT_EQ(*witness, 0);
    EXPECT_EQ(witness.use_count(), 1);
}

TEST_P(every_policy, a_task_that_runs_is_told_of_the_cancellation_and_its_own_group_goes_on) {
    task_pool pool({.policy = GetParam(), .threads = 2});
    task_group group(pool);
    std::atomic<bool> runs{false};
    std::atomic<int> inner_ran{0}, later_ran{0};
    int order = 0;
    group.spawn(
        [&] {
            runs = true;
            runs.notify_all();
            while (!group.is_cancelled()) std::this_thread::yield();
            task_group inner(pool);
            for (int each = 0; each < 10; ++each) inner.spawn([&] { ++inner_ran; });
            EXPECT_FALSE(inner.is_cancelled());
            inner.wait();
        },
        {inout(&order)});
    for (int each = 0; each < 10; ++each) group.spawn([&] { ++later_ran; }, {inout(&order)});
    std::thread other([&] {
        runs.wait(false);
        group.cancel();
    });
    EXPECT_THROW(group.wait(), tasks_error);
    other.join();
    EXPECT_EQ(inner_ran, 10);
    EXPECT_EQ(later_ran, 0);
    EXPECT_FALSE(group.is_cancelled()) << "it may be used again";
}

TEST(tasks, a_pool_that_is_released_ends_tasks_that_wait) {
    causeway_task_pool* pool = nullptr;
    const causeway_task_pool_options options{.threads = 1};
    ASSERT_EQ(causeway_task_pool_create(&options, &pool), CAUSEWAY_TASKS_SUCCESS);
    causeway_task_group group;
    causeway_task_group_init(&group, pool);
    int ran = 0;
    for (int each = 0; each < 1000; ++each)
        causeway_task_spawn(&group, [](void* count) { ++*static_cast<int*>(count); }, &ran, nullptr, 0);
    causeway_task_pool_release(pool);
    EXPECT_EQ(ran, 0);
    EXPECT_EQ(causeway_task_group_wait(&group), CAUSEWAY_TASKS_CANCELLED);
    EXPECT_NE(std::string(causeway_tasks_last_error()).find("released"), std::string::npos);
    causeway_task_group_release(&group);
}

TEST(tasks, a_chain_of_waits_deeper_than_a_stack_runs) {
    task_pool pool({.threads = 2});
    struct chain {
        static void go(task_pool& where, int left) {
            if (left == 0) return;
            volatile char room[1000] = {};
            (void)room;
            task_group next(where);
            next.spawn([&where, left] { go(where, left - 1); });
            next.wait();
        }
    };
    chain::go(pool, 50000); // some 80 MiB of frames
}

TEST(tasks, a_million_tasks_of_one_thread_take_bounded_memory) {
    task_pool pool({.threads = 2});
    std::atomic<int> ran{0};
    task_group group(pool);
    group.spawn([&] {
        task_group inner(pool);
        for (int each = 0; each < 1'000'000; ++each) inner.spawn([&] { ran.fetch_add(1, std::memory_order_relaxed); });
        inner.wait();
    });
    group.wait();
    EXPECT_EQ(ran, 1'000'000);
}

TEST_P(every_policy, recursion_keeps_stacks_flat) {
    // As far as tasks wait on top of one another: a tree of 12 levels, which a queue of its levels in turn would nest
    // by thousands.
    task_pool pool({.policy = GetParam(), .threads = 1});
    struct tree {
        task_pool& pool;
        int nested = 0, deepest = 0, ran = 0;
        void grow(int levels) {
            deepest = std::max(deepest, ++nested);
            ++ran;
            if (levels > 0) {
                task_group children(pool);
                for (int each = 0; each < 2; ++each) children.spawn([this, levels] { grow(levels - 1); });
                children.wait();
            }
            --nested;
        }
    } all{pool};
    task_group group(pool);
    group.spawn([&] { all.grow(12); });
    group.wait();
    EXPECT_EQ(all.ran, (1 << 13) - 1);
    EXPECT_LE(all.deepest, 14);
}

TEST_P(every_policy, threads_that_spawn_millions_run_some_of_them_meanwhile) {
    task_pool pool({.policy = GetParam(), .threads = 2});
    constexpr long count = 1'000'000;
    for (const bool in_a_task : {false, true}) {
        std::atomic<long> ran{0};
        long most = 0;
        task_group group(pool);
        const auto spawn_all = [&](task_group& into) {
            for (long each = 0; each < count; ++each) {
                into.spawn([&] { ran.fetch_add(1, std::memory_order_relaxed); });
                most = std::max(most, each + 1 - ran.load(std::memory_order_relaxed));
            }
        };
        if (in_a_task)
            group.spawn([&] {
                task_group inner(pool);
                spawn_all(inner);
                inner.wait();
            });
        else
            spawn_all(group);
        group.wait();
        EXPECT_EQ(ran, count);
        EXPECT_LE(most, 70000);
    }
}

TEST(tasks, a_thread_without_a_place_slows_down_where_it_has_spawned_many) {
    task_pool pool({.threads = 2, .no_callers = 1});
    constexpr long count = 1'000'000;
    std::atomic<long> ran{0};
    long most = 0;
    task_group group(pool);
    for (long each = 0; each < count; ++each) {
        group.spawn([&] {
            for (int step = 0; step < 500; ++step) std::atomic_signal_fence(std::memory_order_seq_cst);
            ran.fetch_add(1, std::memory_order_relaxed);
        });
        most = std::max(most, each + 1 - ran.load(std::memory_order_relaxed));
    }
    group.wait();
    EXPECT_EQ(ran, count);
    EXPECT_LE(most, 400'000);
}

TEST(tasks, a_thread_without_a_place_spawns_on_where_all_wait_for_it) {
    task_pool pool({.threads = 2, .no_callers = 1});
    task_group group(pool);
    int value = 0;
    auto* const first = group.spawn_held([&] { ++value; }, std::array{causeway::inout(&value)});
    for (int each = 0; each < 300'000; ++each) group.spawn([&] { ++value; }, {causeway::inout(&value)});
    group.let_go(first);
    group.wait();
    EXPECT_EQ(value, 300'001);
}

// With or without a place for the thread that spawns: the last task may be over, and its group gone, before the thread
// returns. To be seen by a sanitizer.
TEST(tasks, a_group_may_go_when_the_last_of_very_many_is_over) {
    for (const int no_callers : {0, 1}) {
        task_pool pool({.threads = 3, .no_callers = no_callers});
        auto group = std::make_unique<task_group>(pool);
        std::atomic<bool> last_ran{false};
        int value = 0;
        // All but the last wait for this one, which waits for the last.
        group->spawn([&] { last_ran.wait(false); }, {causeway::out(&value)});
        for (int each = 0; each < 65'600; ++each) group->spawn([] {}, {causeway::in(&value)});
        std::thread other([&] {
            last_ran.wait(false);
            group->wait();
            group.reset();
        });
        group->spawn([&] {
            last_ran = true;
            last_ran.notify_all();
        });
        other.join();
        EXPECT_EQ(group, nullptr);
    }
}

TEST(tasks, a_held_one_waits_for_its_release_and_its_successors_too) {
    task_pool pool({.threads = 2});
    causeway_task_group group;
    causeway_task_group_init(&group, pool.get());
    int value = 0;
    const causeway_region region = inout(&value);
    const auto submit = [&](causeway_task_function function, int flags) {
        void* place = nullptr;
        auto* const task = causeway_task_make(pool.get(), sizeof(int*), alignof(int*), &place);
        *static_cast<int**>(place) = &value;
        EXPECT_EQ(causeway_task_submit(&group, task, function, nullptr, &region, 1, flags), CAUSEWAY_TASKS_SUCCESS);
        return task;
    };
    auto* const held = submit([](void* place) { **static_cast<int**>(place) += 1; }, CAUSEWAY_TASK_HELD);
    submit([](void* place) { **static_cast<int**>(place) *= 10; }, 0);
    causeway_task_group others;
    causeway_task_group_init(&others, pool.get());
    std::atomic<bool> other_ran{false};
    causeway_task_spawn(
        &others, [](void* ran) { static_cast<std::atomic<bool>*>(ran)->store(true); }, &other_ran, nullptr, 0);
    EXPECT_EQ(causeway_task_group_wait(&others), CAUSEWAY_TASKS_SUCCESS);
    EXPECT_TRUE(other_ran);
    EXPECT_EQ(value, 0);
    std::thread elsewhere([&] { causeway_task_let_go(pool.get(), held); });
    EXPECT_EQ(causeway_task_group_wait(&group), CAUSEWAY_TASKS_SUCCESS);
    elsewhere.join();
    EXPECT_EQ(value, 10);
    causeway_task_group_release(&group);
    causeway_task_group_release(&others);
}

TEST(tasks, urgent_ones_go_first) {
    task_pool pool({.threads = 1});
    std::vector<int> order;
    task_group group(pool);
    group.spawn([&] {
        task_group inner(pool);
        for (int each = 0; each < 3; ++each) inner.spawn([&order] { order.push_back(0); });
        inner.spawn([&order] { order.push_back(1); }, {}, CAUSEWAY_TASK_URGENT);
        inner.wait();
    });
    group.wait();
    EXPECT_EQ(order, (std::vector<int>{1, 0, 0, 0}));
}

TEST(tasks, pools_run_side_by_side_and_within_one_another) {
    task_pool outer({.threads = 2}), inner({.policy = CAUSEWAY_TASK_POLICY_WORK_STEALING, .threads = 2});
    std::atomic<long> sum{0};
    task_group group(outer);
    for (int each = 0; each < 20; ++each) group.spawn([&] { sum += fib(inner, 10); });
    group.wait();
    EXPECT_EQ(sum, 20 * 55);
}

std::set<std::string> threads_of_this_process() {
    std::set<std::string> found;
    for (const auto& each : std::filesystem::directory_iterator("/proc/self/task"))
        found.insert(each.path().filename().string());
    return found;
}

/// How often a thread has left the processor, if it now waits in the kernel for somebody, with no deadline; else empty.
std::string sleep_without_deadline(const std::string& thread) {
    const std::string folder = "/proc/self/task/" + thread;
    std::string number, address, operation, value, deadline;
    std::ifstream(folder + "/syscall") >> number >> address >> operation >> value >> deadline;
    if (number != std::to_string(SYS_futex) || deadline != "0x0") return {};
    std::ifstream status(folder + "/status");
    for (std::string line; std::getline(status, line);)
        if (line.rfind("voluntary_ctxt_switches", 0) == 0) return line;
    return {};
}

TEST_P(every_policy, an_idle_pool_uses_no_processor) {
    const auto before = threads_of_this_process();
    task_pool pool({.policy = GetParam(), .threads = 8, .no_callers = 1});
    task_group group(pool);
    for (int each = 0; each < 100; ++each) group.spawn([] {});
    group.wait();
    std::vector<std::string> workers;
    for (const auto& each : threads_of_this_process())
        if (!before.count(each)) workers.push_back(each);
    EXPECT_EQ(workers.size(), 8u);
    const auto sleeps = [&workers] {
        std::vector<std::string> all;
        for (const auto& each : workers) all.push_back(sleep_without_deadline(each));
        return all;
    };
    // All sleep without a deadline, and none has woken from the first to the last look: so all did at once, and nobody
    // is left to wake them.
    for (auto first = sleeps(), second = sleeps(); first != second || std::count(first.begin(), first.end(), "") != 0;
         first = std::move(second), second = sleeps())
        std::this_thread::yield();
}

TEST(tasks, callers_beyond_the_places_end) {
    task_pool pool({.threads = 2});
    std::atomic<int> ran{0};
    std::vector<std::thread> callers;
    for (int each = 0; each < 6; ++each)
        callers.emplace_back([&] {
            for (int round = 0; round < 200; ++round) {
                task_group group(pool);
                for (int task = 0; task < 5; ++task) group.spawn([&] { ++ran; });
                group.wait();
            }
        });
    for (auto& each : callers) each.join();
    EXPECT_EQ(ran, 6 * 200 * 5);
}

/// Until the thread of this number sleeps in the kernel.
void wait_until_asleep(const std::atomic<int>& thread) {
    for (;; std::this_thread::yield()) {
        if (thread.load() == 0) continue;
        std::ifstream file("/proc/self/task/" + std::to_string(thread.load()) + "/stat");
        std::string text((std::istreambuf_iterator<char>(file)), {});
        if (const auto end = text.rfind(')'); end != std::string::npos && text.substr(end, 3) == ") S") return;
    }
}

TEST(tasks, a_caller_gets_the_place_that_another_leaves) {
    task_pool pool({.threads = 1}); // nobody but callers
    std::atomic<int> second{0};
    std::atomic<bool> first_runs{false}, ran{false};
    std::thread other([&] {
        while (!first_runs) std::this_thread::yield();
        task_group group(pool);
        group.spawn([&] { ran = true; });
        second = static_cast<int>(::gettid());
        group.wait();
    });
    task_group group(pool);
    group.spawn([&] {
        first_runs = true;
        wait_until_asleep(second);
    });
    group.wait();
    other.join();
    EXPECT_TRUE(ran);
}

TEST(tasks, a_policy_of_the_program_is_asked) {
    static std::atomic<int> asked{0};
    asked = 0;
    const auto deal = [](void*, const causeway_deal* task) {
        ++asked;
        return static_cast<int>(task->own_node);
    };
    task_pool pool({.threads = 2, .deal = deal});
    task_group group(pool);
    for (int each = 0; each < 50; ++each) group.spawn([] {});
    group.wait();
    EXPECT_EQ(asked, 50);
    EXPECT_EQ(pool.statistics().dealt, 0u) << "spawned by a thread of the program, which has no counts";
}

TEST(tasks, bad_arguments_are_refused_with_their_cause) {
    const causeway_task_pool_options many{.threads = 5000};
    causeway_task_pool* none = nullptr;
    EXPECT_EQ(causeway_task_pool_create(&many, &none), CAUSEWAY_TASKS_INVALID_VALUE);
    EXPECT_NE(std::string(causeway_tasks_last_error()).find("5000 threads"), std::string::npos);
    EXPECT_EQ(causeway_task_pool_create(nullptr, nullptr), CAUSEWAY_TASKS_INVALID_VALUE);
    task_pool pool({.threads = 1});
    causeway_task_group group;
    causeway_task_group_init(&group, pool.get());
    EXPECT_EQ(causeway_task_spawn(&group, nullptr, nullptr, nullptr, 0), CAUSEWAY_TASKS_INVALID_VALUE);
    EXPECT_EQ(causeway_task_spawn(&group, [](void*) {}, nullptr, nullptr, 2), CAUSEWAY_TASKS_INVALID_VALUE);
    const causeway_region wrong{&pool, SIZE_MAX, CAUSEWAY_REGION_IN, 0};
    EXPECT_EQ(causeway_task_spawn(&group, [](void*) {}, nullptr, &wrong, 1), CAUSEWAY_TASKS_INVALID_VALUE);
    EXPECT_NE(std::string(causeway_tasks_last_error()).find("region 0"), std::string::npos);
    EXPECT_EQ(causeway_task_group_wait(&group), CAUSEWAY_TASKS_SUCCESS);
    causeway_task_group_release(&group);
    EXPECT_EQ(causeway_malloc_units(4096, CAUSEWAY_DISTRIBUTION_FINE, 1000), nullptr);
    EXPECT_NE(std::string(causeway_tasks_last_error()).find("unit"), std::string::npos);
    EXPECT_EQ(causeway_malloc(std::size_t{1} << 60, CAUSEWAY_DISTRIBUTION_COARSE), nullptr);
    EXPECT_EQ(causeway_malloc_placed(1, 0, nullptr, nullptr), nullptr);
}

TEST(distributed_memory, knows_its_node_and_nothing_of_strangers) {
    int local = 0;
    auto* const ours = static_cast<char*>(causeway_malloc(10000, CAUSEWAY_DISTRIBUTION_COARSE));
    const int node = causeway_node_of_address(ours);
    EXPECT_GE(node, 0);
    EXPECT_LT(node, static_cast<int>(causeway_node_count()));
    EXPECT_EQ(causeway_node_of_address(ours + 9999), node);
    EXPECT_EQ(causeway_node_of_address(&local), -1);
    EXPECT_EQ(causeway_node_of_address(nullptr), -1);
    EXPECT_EQ(causeway_node_of_address(reinterpret_cast<void*>(UINTPTR_MAX)), -1);
    causeway_free(ours);
    EXPECT_EQ(causeway_node_of_address(ours), -1);
    causeway_free(nullptr);
    causeway_free(std::malloc(3));
}

TEST(distributed_memory, is_zero_also_when_addresses_come_again) {
    for (int round = 0; round < 3; ++round) {
        auto* const memory = static_cast<char*>(omp_malloc_specific(1 << 20, OMP_MALLOC_FINE));
        for (int each = 0; each < 1 << 20; ++each) ASSERT_EQ(memory[each], 0);
        std::memset(memory, 1, 1 << 20);
        causeway_free(memory);
    }
}

} // namespace
