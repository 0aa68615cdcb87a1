// SPDX-License-Identifier: Apache-2.0
// Who is taken for a dead process of another node.
#include "comm/distant_watch.hpp"

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

/// Two watches of one process, which take each other for far.
struct two {
    distant_watch first;
    std::unique_ptr<distant_watch> second = std::make_unique<distant_watch>();

    void connect(const network_address& of_second) {
        const std::vector<network_address> all{first.address(), of_second};
        std::thread other([&] { second->connect(all, 1, {true, false}, 60s); });
        first.connect(all, 0, {false, true}, 60s);
        other.join();
    }
    two() { connect(second->address()); }
};

} // namespace

TEST(distant_watch, sees_nobody_gone_who_runs) {
    two both;
    EXPECT_FALSE(both.first.is_gone(1));
    EXPECT_FALSE(both.second->is_gone(0));
    EXPECT_FALSE(both.first.is_gone(0)) << "this process is not watched";
}

TEST(distant_watch, sees_who_ends) {
    two both;
    both.second.reset();
    EXPECT_TRUE(both.first.is_gone(1));
    EXPECT_TRUE(both.first.is_gone(1)) << "for good";
}

TEST(distant_watch, lets_go_who_takes_leave) {
    two both;
    both.second->leave();
    EXPECT_FALSE(both.first.is_gone(1));
    EXPECT_FALSE(both.first.has_ended(1));
    both.second.reset();
    EXPECT_FALSE(both.first.is_gone(1));
    EXPECT_TRUE(both.first.has_ended(1));
}

TEST(distant_watch, takes_who_severs_it_for_gone) {
    two both;
    both.second->sever();
    EXPECT_TRUE(both.first.is_gone(1));
    EXPECT_FALSE(both.second->is_gone(0));
}

TEST(distant_watch, sees_a_process_that_is_killed) {
    std::array<int, 2> up{}, down{};
    ASSERT_EQ(::pipe(up.data()), 0);
    ASSERT_EQ(::pipe(down.data()), 0);
    const auto child = ::fork();
    if (child == 0) {
        distant_watch own;
        std::vector<network_address> all{{}, own.address()};
        const auto told = ::write(up[1], &all[1], sizeof all[1]), heard = ::read(down[0], all.data(), sizeof all[0]);
        if (told > 0 && heard > 0) own.connect(all, 1, {true, false}, 60s);
        raise(SIGKILL);
    }
    distant_watch own;
    std::vector<network_address> all{own.address(), {}};
    ASSERT_EQ(::write(down[1], all.data(), sizeof all[0]), static_cast<ssize_t>(sizeof all[0]));
    ASSERT_EQ(::read(up[0], &all[1], sizeof all[1]), static_cast<ssize_t>(sizeof all[1]));
    own.connect(all, 0, {false, true}, 60s);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(own.is_gone(1));
    for (const int each : {up[0], up[1], down[0], down[1]}) ::close(each);
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
