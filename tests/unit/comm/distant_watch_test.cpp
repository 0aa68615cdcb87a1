// SPDX-License-Identifier: Apache-2.0
// Who is taken for a dead process of another node.
#include "unit/comm/two_watches.hpp"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <memory>
#include <thread>
#include <vector>

using causeway::comm::distant_watch;
using causeway::comm::network_address;

namespace {

using namespace std::chrono_literals;
using unit::two_watches;

/// Another process of this job, which does `what` with its watch, and is killed.
void let_die(distant_watch& own, void (*what)(distant_watch&)) {
    std::array<int, 2> up{}, down{};
    ASSERT_EQ(::pipe(up.data()), 0);
    ASSERT_EQ(::pipe(down.data()), 0);
    const auto child = ::fork();
    if (child == 0) {
        distant_watch there;
        std::vector<network_address> all{{}, there.address()};
        const auto told = ::write(up[1], &all[1], sizeof all[1]), heard = ::read(down[0], all.data(), sizeof all[0]);
        if (told > 0 && heard > 0) there.connect(all, 1, {true, false}, 60s);
        what(there);
        raise(SIGKILL);
    }
    std::vector<network_address> all{own.address(), {}};
    ASSERT_EQ(::write(down[1], all.data(), sizeof all[0]), static_cast<ssize_t>(sizeof all[0]));
    ASSERT_EQ(::read(up[0], &all[1], sizeof all[1]), static_cast<ssize_t>(sizeof all[1]));
    own.connect(all, 0, {false, true}, 60s);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    for (const int each : {up[0], up[1], down[0], down[1]}) ::close(each);
}

} // namespace

TEST(distant_watch, sees_nobody_gone_who_runs) {
    two_watches both;
    EXPECT_FALSE(both.first->is_gone(1));
    EXPECT_FALSE(both.second->is_gone(0));
    EXPECT_FALSE(both.first->is_gone(0)) << "this process is not watched";
}

TEST(distant_watch, sees_a_process_that_is_killed) {
    distant_watch own;
    let_die(own, [](distant_watch&) {});
    EXPECT_TRUE(own.is_gone(1));
    EXPECT_TRUE(own.is_gone(1)) << "for good";
    EXPECT_TRUE(own.has_ended(1));
    EXPECT_FALSE(own.is_out_of_reach(1));
}

TEST(distant_watch, lets_go_who_takes_leave_but_sees_its_end) {
    distant_watch own;
    let_die(own, [](distant_watch& there) { there.leave(); });
    EXPECT_FALSE(own.is_gone(1));
    EXPECT_TRUE(own.has_ended(1));
}

TEST(distant_watch, takes_no_end_of_a_watch_for_that_of_its_process) {
    two_watches both;
    both.second.reset();
    two_watches others; // which looks after what is left of the first ones
    EXPECT_FALSE(both.first->is_gone(1));
    EXPECT_FALSE(both.first->has_ended(1));
    EXPECT_FALSE(both.first->is_out_of_reach(1));
}

TEST(distant_watch, hears_who_gives_up_and_lives) {
    two_watches both;
    both.second->give_up();
    EXPECT_TRUE(both.first->has_given_up(1));
    EXPECT_FALSE(both.first->is_gone(1));
    EXPECT_FALSE(both.first->has_ended(1));
    EXPECT_FALSE(both.second->has_given_up(0));
}

TEST(distant_watch, knows_a_broken_connection_from_the_end_of_a_process) {
    two_watches both;
    two_watches::break_connections_to(*both.second);
    while (!both.first->is_out_of_reach(1)) std::this_thread::yield();
    EXPECT_FALSE(both.first->has_ended(1));
    EXPECT_TRUE(both.first->is_gone(1));
    EXPECT_FALSE(both.second->is_gone(0));
}

TEST(distant_watch, does_not_take_another_process_for_the_one_that_it_looks_for) {
    distant_watch own, other;
    auto with_another_key = other.address();
    with_another_key.key.low ^= 1;
    const std::vector<network_address> seen_by_own{own.address(), with_another_key};
    const std::vector<network_address> seen_by_other{own.address(), other.address()};
    std::thread there([&] { other.connect(seen_by_other, 1, {true, false}, 60s); });
    own.connect(seen_by_own, 0, {false, true}, 60s); // ends when its attempts have failed and the other one has come
    there.join();
    EXPECT_FALSE(own.is_gone(1)) << "never watched";
    EXPECT_FALSE(other.is_gone(0));
}
