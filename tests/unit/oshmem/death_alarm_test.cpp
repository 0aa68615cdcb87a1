// SPDX-License-Identifier: Apache-2.0
// A thread that learns of the end of processes.
#include "oshmem/death_alarm.hpp"

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <future>
#include <vector>

using causeway::comm::process_watch;
using causeway::oshmem::death_alarm;

TEST(death_alarm, watches_a_process_among_more_than_may_have_descriptors) {
    const pid_t child = fork();
    if (child == 0)
        for (;;) pause();
    std::vector<process_watch> watched(1000); // the rest is on other nodes
    watched[700] = process_watch(child);
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    const rlimit few{std::min<rlim_t>(before.rlim_cur, 100), before.rlim_max};
    std::promise<std::size_t> gone;
    auto told = gone.get_future();
    const auto counts = [&](std::size_t pe) {
        gone.set_value(pe);
        return false;
    };
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
    {
        const death_alarm alarm(watched, counts, [](std::size_t) {});
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
        if (watched[700].watches()) {
            ASSERT_EQ(told.wait_for(std::chrono::seconds(30)), std::future_status::ready);
            EXPECT_EQ(told.get(), 700u);
        }
    }
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
}
