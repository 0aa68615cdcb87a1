// SPDX-License-Identifier: Apache-2.0
// causeway/tasks.h in the hands of programs that use it wrongly, or where they rarely do: refused with the cause, or it
// does no harm.
#include <causeway/tasks.hpp>
#include <causeway/tasks_simulator.h>

#include <gtest/gtest.h>

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace causeway;

bool told(const std::string& word) { return std::string(causeway_tasks_last_error()).find(word) != std::string::npos; }

void nothing(void*) {}

TEST(wrong_use, null_and_groups_without_a_pool_are_refused) {
    causeway_task_group zeros{};
    EXPECT_EQ(causeway_task_spawn(&zeros, nothing, nullptr, nullptr, 0), CAUSEWAY_TASKS_INVALID_VALUE);
    EXPECT_TRUE(told("no pool"));
    EXPECT_EQ(causeway_task_group_wait(&zeros), CAUSEWAY_TASKS_INVALID_VALUE);
    EXPECT_EQ(causeway_task_spawn(nullptr, nothing, nullptr, nullptr, 0), CAUSEWAY_TASKS_INVALID_VALUE);
    EXPECT_EQ(causeway_task_group_wait(nullptr), CAUSEWAY_TASKS_INVALID_VALUE);
    EXPECT_EQ(causeway_task_submit(nullptr, nullptr, nothing, nullptr, nullptr, 0, 0), CAUSEWAY_TASKS_INVALID_VALUE);
    causeway_task_group without;
    causeway_task_group_init(&without, nullptr);
    EXPECT_EQ(causeway_task_spawn(&without, nothing, nullptr, nullptr, 0), CAUSEWAY_TASKS_INVALID_VALUE);
    causeway_task_group_release(&without);

    causeway_task_group_init(nullptr, nullptr);
    causeway_task_group_cancel(nullptr);
    causeway_task_group_release(nullptr);
    EXPECT_EQ(causeway_task_group_is_cancelled(nullptr), 0);
    causeway_task_discard(nullptr, nullptr);
    causeway_task_let_go(nullptr, nullptr);
    causeway_task_pool_release(nullptr);
    causeway_task_pool_statistics(nullptr, nullptr);
    causeway_task_statistics statistics{1, 2, 3, 4, 5};
    causeway_task_pool_statistics(nullptr, &statistics);
    EXPECT_EQ(statistics.tasks + statistics.threads, 0u);

    void* place = nullptr;
    task_pool pool({.threads = 1});
    EXPECT_EQ(causeway_task_make(nullptr, 1, 1, &place), nullptr);
    EXPECT_EQ(causeway_task_make(pool.get(), 1, 1, nullptr), nullptr);
    EXPECT_EQ(causeway_task_record_begin(nullptr), CAUSEWAY_TASKS_INVALID_VALUE);
    EXPECT_EQ(causeway_task_record_end(nullptr, "x"), CAUSEWAY_TASKS_INVALID_VALUE);
    EXPECT_EQ(causeway_task_record_end(pool.get(), nullptr), CAUSEWAY_TASKS_INVALID_VALUE);
    EXPECT_EQ(causeway_task_record_timeline(nullptr, "x"), CAUSEWAY_TASKS_INVALID_VALUE);
    EXPECT_EQ(causeway_tasks_simulate(nullptr, nullptr), CAUSEWAY_TASKS_INVALID_VALUE);
}

TEST(wrong_use, numbers_that_enumerations_do_not_have_are_refused) {
    const int strange = 77;
    causeway_distribution distribution;
    std::memcpy(&distribution, &strange, sizeof strange);
    EXPECT_EQ(causeway_malloc(10, distribution), nullptr);
    EXPECT_TRUE(told("no distribution 77"));
    causeway_task_pool_options options{};
    std::memcpy(&options.policy, &strange, sizeof strange);
    causeway_task_pool* pool = nullptr;
    EXPECT_EQ(causeway_task_pool_create(&options, &pool), CAUSEWAY_TASKS_INVALID_VALUE);
    EXPECT_TRUE(told("no policy 77"));
}

TEST(wrong_use, sizes_that_overflow_are_refused) {
    EXPECT_EQ(causeway_malloc_units(10000, CAUSEWAY_DISTRIBUTION_FINE, SIZE_MAX - 4095), nullptr);
    EXPECT_EQ(causeway_malloc_units(1, CAUSEWAY_DISTRIBUTION_COARSE, std::size_t{1} << 63), nullptr);
    EXPECT_EQ(causeway_malloc(SIZE_MAX, CAUSEWAY_DISTRIBUTION_FINE), nullptr);
    EXPECT_EQ(causeway_malloc(SIZE_MAX, CAUSEWAY_DISTRIBUTION_STANDARD), nullptr);
    task_pool pool({.threads = 1});
    void* place = nullptr;
    for (const std::size_t bytes : {SIZE_MAX, SIZE_MAX - 63, SIZE_MAX / 2 + 1}) {
        EXPECT_EQ(causeway_task_make(pool.get(), bytes, 64, &place), nullptr) << bytes;
        EXPECT_TRUE(told("out of memory"));
    }
    for (const std::size_t alignment : {std::size_t{0}, std::size_t{3}, std::size_t{1} << 20})
        EXPECT_EQ(causeway_task_make(pool.get(), 1, alignment, &place), nullptr) << alignment;

    task_group group(pool);
    std::array<double, 2> values{};
    EXPECT_THROW(group.spawn([] {}, {in(values.data(), SIZE_MAX / 4)}), tasks_error)
        << "bytes of which 16 would be left";
    EXPECT_THROW(group.spawn([] {}, {inout(static_cast<double*>(nullptr), 3)}), tasks_error);
    EXPECT_TRUE(told("at null"));
    const causeway_region wraps{reinterpret_cast<void*>(UINTPTR_MAX - 7), 9, CAUSEWAY_REGION_IN, 0};
    EXPECT_EQ(causeway_task_spawn(group.get(), nothing, nullptr, &wraps, 1), CAUSEWAY_TASKS_INVALID_VALUE);
    causeway_region strange{&values, 8, CAUSEWAY_REGION_IN, 0};
    const int nine = 9;
    std::memcpy(&strange.access, &nine, sizeof nine);
    EXPECT_EQ(causeway_task_spawn(group.get(), nothing, nullptr, &strange, 1), CAUSEWAY_TASKS_INVALID_VALUE);
    // The last bytes that there are, and none, are allowed.
    const causeway_region last{reinterpret_cast<void*>(UINTPTR_MAX - 8), 8, CAUSEWAY_REGION_IN, 0};
    EXPECT_EQ(causeway_task_spawn(group.get(), nothing, nullptr, &last, 1), CAUSEWAY_TASKS_SUCCESS);
    group.spawn([] {}, {in(static_cast<double*>(nullptr), 0)});
    group.wait();
}

TEST(wrong_use, memory_that_is_freed_twice_or_inside_stays_as_it_is) {
    auto* const memory = static_cast<char*>(causeway_malloc(100000, CAUSEWAY_DISTRIBUTION_FINE));
    causeway_free(memory + 4096);
    EXPECT_TRUE(told("no allocation begins"));
    EXPECT_GE(causeway_node_of_address(memory + 4096), 0);
    memory[4096] = 1;
    causeway_free(memory);
    causeway_free(memory);
    EXPECT_EQ(causeway_node_of_address(memory), -1);
}

struct throws_at_its_end {
    std::atomic<int>* ended;
    explicit throws_at_its_end(std::atomic<int>* count) : ended(count) {}
    throws_at_its_end(const throws_at_its_end&) = default;
    ~throws_at_its_end() noexcept(false) {
        if (++*ended; armed) throw std::runtime_error("thrown by a destructor");
    }
    bool armed = false;
    void operator()() { armed = true; }
};

TEST(wrong_use, a_payload_whose_destructor_throws_fails_its_group) {
    std::atomic<int> ended{0};
    task_pool pool({.threads = 2});
    causeway_task_group group;
    causeway_task_group_init(&group, pool.get());
    for (const bool runs : {true, false}) {
        void* place = nullptr;
        auto* const task = causeway_task_make(pool.get(), sizeof(throws_at_its_end), alignof(throws_at_its_end),
                                              &place);
        auto* const payload = new (place) throws_at_its_end(&ended);
        if (!runs) {
            payload->armed = true;
            causeway_task_group_cancel(&group);
        }
        const auto end = [](void* its) { static_cast<throws_at_its_end*>(its)->~throws_at_its_end(); };
        ASSERT_EQ(causeway_task_submit(
                      &group, task,
                      [](void* its) {
                          (*static_cast<throws_at_its_end*>(its))();
                          static_cast<throws_at_its_end*>(its)->~throws_at_its_end();
                      },
                      end, nullptr, 0, 0),
                  CAUSEWAY_TASKS_SUCCESS);
        EXPECT_EQ(causeway_task_group_wait(&group), CAUSEWAY_TASKS_FAILED) << runs;
        EXPECT_TRUE(told("thrown by a destructor"));
    }
    causeway_task_group_release(&group);
    EXPECT_EQ(ended, 2);
}

TEST(wrong_use, a_refused_payload_whose_destructor_throws_fails_its_group) {
    std::atomic<int> ended{0};
    task_pool pool({.threads = 2});
    causeway_task_group group;
    causeway_task_group_init(&group, pool.get());
    const causeway_region at_null{nullptr, 8, CAUSEWAY_REGION_IN, 0};
    void* first = nullptr;
    for (int round = 0; round < 3; ++round) {
        void* place = nullptr;
        auto* const task = causeway_task_make(pool.get(), sizeof(throws_at_its_end), alignof(throws_at_its_end),
                                              &place);
        if (!first) first = place;
        EXPECT_EQ(place, first) << "the refused task was not discarded";
        (new (place) throws_at_its_end(&ended))->armed = true;
        const auto end = [](void* its) { static_cast<throws_at_its_end*>(its)->~throws_at_its_end(); };
        EXPECT_NO_THROW(
            EXPECT_EQ(causeway_task_submit(&group, task, nothing, end, &at_null, 1, 0), CAUSEWAY_TASKS_INVALID_VALUE));
        EXPECT_TRUE(told("at null"));
        EXPECT_EQ(causeway_task_group_wait(&group), CAUSEWAY_TASKS_FAILED);
        EXPECT_TRUE(told("thrown by a destructor"));
    }
    causeway_task_group_release(&group);
    EXPECT_EQ(ended, 3);
}

TEST(rare_use, a_pool_released_while_tasks_are_held_drops_them_and_what_waits_for_them) {
    for (const auto policy : {CAUSEWAY_TASK_POLICY_WORK_STEALING, CAUSEWAY_TASK_POLICY_CENTRAL_QUEUE}) {
        auto pool = std::make_unique<task_pool>(causeway_task_pool_options{.policy = policy, .threads = 2});
        const auto content = std::make_shared<int>(0); // its count says whether payloads ended
        std::atomic<int> ran{0};
        int cell = 0;
        task_group group(*pool);
        const auto work = [content, &ran] { ++ran; };
        const std::array<causeway_region, 1> regions = {inout(&cell)};
        (void)group.spawn_held(work);
        (void)group.spawn_held(work, regions);
        for (int each = 0; each < 5; ++each) group.spawn(work, regions);
        (void)group.spawn_held(work, regions); // waits for those too
        group.let_go(group.spawn_held(work));
        pool.reset();
        int code = 0;
        try {
            group.wait();
        } catch (const tasks_error& error) {
            code = error.code();
        }
        EXPECT_EQ(code, CAUSEWAY_TASKS_CANCELLED);
        EXPECT_TRUE(told("its pool was released"));
        EXPECT_LE(ran, 1) << "one was let go";
        EXPECT_EQ(content.use_count(), 2) << "this one's and that of `work`";
    }
}

TEST(rare_use, threads_that_are_no_workers_spawn_into_one_group) {
    task_pool pool({.threads = 3});
    task_group group(pool);
    std::atomic<int> ran{0};
    long ordered = 0;
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread)
        threads.emplace_back([&] {
            for (int each = 0; each < 500; ++each) {
                group.spawn([&] { ++ran; });
                group.spawn([&] { ++ordered; }, {inout(&ordered)});
            }
        });
    for (auto& each : threads) each.join();
    group.wait();
    EXPECT_EQ(ran, 2000);
    EXPECT_EQ(ordered, 2000);
}

#ifndef __SANITIZE_THREAD__ // whose children of fork() may start no threads
TEST(rare_use, a_child_of_fork_ends_its_parents_pool_and_has_pools_of_its_own) {
    auto pool = std::make_unique<task_pool>(causeway_task_pool_options{.threads = 3});
    auto* const memory = static_cast<int*>(causeway_malloc(10000, CAUSEWAY_DISTRIBUTION_COARSE));
    memory[1] = 42;
    std::atomic<int> ran{0};
    const auto run_some = [&ran](task_pool& in) {
        task_group group(in);
        for (int each = 0; each < 100; ++each) group.spawn([&ran] { ++ran; });
        group.wait();
    };
    run_some(*pool);
    for (const bool own_comes_first : {false, true}) {
        const pid_t child = ::fork();
        if (child == 0) {
            ::alarm(20); // instead of a hang
            if (!own_comes_first) pool.reset();
            {
                task_pool own({.threads = 2});
                run_some(own);
                pool.reset(); // the own pool's threads have the numbers of the parent's
                run_some(own);
            }
            const bool right = ran == 300 && memory[1] == 42 && causeway_node_of_address(memory) >= 0;
            causeway_free(memory);
            ::_exit(right ? 0 : 1);
        }
        ASSERT_GT(child, 0);
        int status = -1;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0) << own_comes_first;
    }
    run_some(*pool);
    EXPECT_EQ(ran, 200);
    causeway_free(memory);
}

#endif

/// Ends the process: 0 if a pool has a thread for each processor that the process was left.
void make_pool_on_one_processor() {
    cpu_set_t all, one;
    CPU_ZERO(&all);
    CPU_ZERO(&one);
    ::sched_getaffinity(0, sizeof all, &all);
    for (int each = 0; each < CPU_SETSIZE; ++each)
        if (CPU_ISSET(each, &all)) {
            CPU_SET(each, &one);
            break;
        }
    ::sched_setaffinity(0, sizeof one, &one);
    const task_pool pool;
    std::exit(pool.statistics().threads == 1 ? 0 : 1);
}

TEST(rare_use, a_pool_takes_the_processors_that_its_process_is_bound_to) {
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
    EXPECT_EXIT(make_pool_on_one_processor(), testing::ExitedWithCode(0), "");
}

} // namespace
