// SPDX-License-Identifier: Apache-2.0
// What depends on the process: its environment and its limits. Each in a process of its own.
#include <causeway/omp_malloc.h>
#include <causeway/tasks.hpp>

#include <gtest/gtest.h>

#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

struct own_process : testing::Test {
    void SetUp() override { testing::GTEST_FLAG(death_test_style) = "threadsafe"; }
};
using distribution_by_environment = own_process;
using exhausted_memory = own_process;
using look_up = own_process;

/// Ends the process: 0 if memory of the default distribution has a node.
void ask_for_default(const char* word) {
    ::setenv("OMP_DATA_DISTRIBUTION", word, 1);
    void* const memory = omp_malloc(10000);
    const int status = !memory ? 2 : causeway_node_of_address(memory) >= 0 ? 0 : 1;
    causeway_free(memory);
    std::exit(status);
}

TEST_F(distribution_by_environment, is_taken_by_its_word) {
    for (const auto* word : {"fine", "coarse", "local"})
        EXPECT_EXIT(ask_for_default(word), testing::ExitedWithCode(0), "^$") << word;
    for (const auto* word : {"standard", ""})
        EXPECT_EXIT(ask_for_default(word), testing::ExitedWithCode(1), "^$") << word;
}

TEST_F(distribution_by_environment, warns_of_an_unknown_word) {
    EXPECT_EXIT(ask_for_default("everywhere"), testing::ExitedWithCode(1), "OMP_DATA_DISTRIBUTION is everywhere");
}

#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
/// Ends the process: 0 if the nodes of addresses are known where a system call other than the last one kills.
void look_up_without_system_calls() {
    constexpr std::size_t bytes = 1 << 20;
    auto* const memory = static_cast<char*>(causeway_malloc(bytes, CAUSEWAY_DISTRIBUTION_FINE));
    ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
    bool right = true;
    for (std::size_t each = 0; each < bytes; each += 512) right = right && causeway_node_of_address(memory + each) >= 0;
    right = right && causeway_node_of_address(memory + bytes) == -1 && causeway_node_of_address(&right) == -1;
    ::syscall(SYS_exit, right ? 0 : 1);
}

TEST_F(look_up, makes_no_system_call) { EXPECT_EXIT(look_up_without_system_calls(), testing::ExitedWithCode(0), "^$"); }

/// Ends the process with 0 if spawning without memory fails clearly, and what was spawned before still runs.
void spawn_until_there_is_no_memory() {
    causeway::task_pool pool({.threads = 1});
    unsigned long pages = 0; // that the process has reserved by now
    if (auto* const file = std::fopen("/proc/self/statm", "r")) {
        if (std::fscanf(file, "%lu", &pages) != 1) pages = 0;
        std::fclose(file);
    }
    const rlim_t most = pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + (256u << 20);
    const rlimit limit{most, most};
    ::setrlimit(RLIMIT_AS, &limit);
    int ran = 0, spawned = 0;
    bool refused = false;
    {
        causeway::task_group group(pool);
        struct large {
            char bytes[1 << 20];
        };
        try {
            for (; spawned < 100000; ++spawned) group.spawn([&ran, content = large{}] { ran += content.bytes[0] + 1; });
        } catch (const std::bad_alloc&) {
            refused = true;
        }
        group.wait();
    }
    const bool clear = !causeway_malloc(std::size_t{1} << 45, CAUSEWAY_DISTRIBUTION_FINE) &&
                       std::string(causeway_tasks_last_error()) == "out of memory";
    std::fprintf(stderr, "%d of %d ran, refused %d, clear %d\n", ran, spawned, refused, clear);
    std::exit(refused && clear && ran == spawned && spawned > 0 ? 0 : 1);
}

TEST_F(exhausted_memory, is_told_and_nothing_is_lost) {
    EXPECT_EXIT(spawn_until_there_is_no_memory(), testing::ExitedWithCode(0), "ran");
}
#endif

} // namespace
