// SPDX-License-Identifier: Apache-2.0
// Matching as MPI does it.
#include "endpoints/mpi/message_matcher.hpp"

#include <gtest/gtest.h>

#include <deque>

using namespace causeway::endpoints;

namespace {

struct fake_receive final : receiver {
    void matched(message&& found) override {
        got.push_back(static_cast<int>(found.bytes));
    }
    std::vector<int> got;
};

message announce(int source, int tag, std::size_t name) { return {.source = source, .tag = tag, .bytes = name}; }

} // namespace

TEST(message_matcher, gives_a_message_to_the_first_receive_that_fits) {
    message_matcher matcher;
    fake_receive other_tag, other_source, fitting, later;
    matcher.enter(other_tag, 1, 8);
    matcher.enter(other_source, 2, 7);
    matcher.enter(fitting, 1, 7);
    matcher.enter(later, 1, 7);
    for (auto* const each : {&other_tag, &other_source, &fitting, &later}) matcher.open(*each);
    matcher.arrived(announce(1, 7, 100));
    EXPECT_EQ(fitting.got, (std::vector<int>{100}));
    matcher.arrived(announce(1, 7, 101));
    EXPECT_EQ(later.got, (std::vector<int>{101}));
    EXPECT_EQ(matcher.waiting_receives(), 2u);
}

TEST(message_matcher, keeps_messages_in_order_until_a_receive_opens) {
    message_matcher matcher;
    matcher.arrived(announce(1, 7, 100));
    matcher.arrived(announce(1, 7, 101));
    matcher.arrived(announce(1, 9, 102));
    fake_receive any, exact;
    matcher.enter(exact, 1, 9);
    matcher.enter(any, any_source, any_tag);
    matcher.open(any);
    EXPECT_EQ(any.got, (std::vector<int>{100}));
    matcher.open(exact);
    EXPECT_EQ(exact.got, (std::vector<int>{102}));
    EXPECT_EQ(matcher.waiting_messages(), 1u);
}

TEST(message_matcher, holds_a_message_back_for_a_gated_receive) {
    message_matcher matcher;
    fake_receive gated, later, unrelated;
    matcher.enter(gated, 1, any_tag);
    matcher.enter(later, 1, 7);
    matcher.enter(unrelated, 2, 7);
    matcher.open(later);
    matcher.open(unrelated);
    matcher.arrived(announce(1, 7, 100));
    matcher.arrived(announce(2, 7, 101));
    EXPECT_TRUE(later.got.empty());
    EXPECT_EQ(unrelated.got, (std::vector<int>{101}));
    matcher.open(gated);
    EXPECT_EQ(gated.got, (std::vector<int>{100}));
    matcher.arrived(announce(1, 7, 102));
    EXPECT_EQ(later.got, (std::vector<int>{102}));
}

TEST(message_matcher, passes_a_message_on_when_the_gated_receive_leaves) {
    message_matcher matcher;
    fake_receive gated, later;
    matcher.enter(gated, any_source, 7);
    matcher.enter(later, 1, 7);
    matcher.open(later);
    matcher.arrived(announce(1, 7, 100));
    matcher.leave(gated);
    EXPECT_EQ(later.got, (std::vector<int>{100}));
}

TEST(message_matcher, forgets_a_message_that_its_sender_withdraws) {
    message_matcher matcher;
    auto first = announce(1, 7, 100);
    first.sender = 5;
    matcher.arrived(std::move(first));
    matcher.arrived(announce(1, 7, 101));
    EXPECT_FALSE(matcher.withdrawn(2, 5));
    EXPECT_TRUE(matcher.withdrawn(1, 5));
    EXPECT_FALSE(matcher.withdrawn(1, 5));
    fake_receive exact;
    matcher.enter(exact, 1, 7);
    matcher.open(exact);
    EXPECT_EQ(exact.got, (std::vector<int>{101}));
}

TEST(message_matcher, lets_no_message_overtake_an_older_one_that_waits_for_a_gated_receive) {
    for (const bool early : {false, true}) {
        message_matcher matcher;
        fake_receive gated, any, other_source;
        matcher.enter(gated, 1, 7);
        matcher.enter(any, any_source, any_tag);
        matcher.enter(other_source, 2, any_tag);
        if (early) matcher.open_early(gated);
        matcher.open(any);
        matcher.open(other_source);
        matcher.arrived(announce(1, 7, 100));
        matcher.arrived(announce(1, 7, 101));
        matcher.arrived(announce(1, 9, 102));
        EXPECT_TRUE(any.got.empty());
        matcher.arrived(announce(2, 9, 103));
        EXPECT_EQ(any.got, (std::vector<int>{103})) << "ranks do not wait for one another";
        fake_receive next;
        matcher.enter(next, 1, any_tag);
        matcher.open(next);
        EXPECT_TRUE(next.got.empty());
        matcher.open(gated);
        EXPECT_EQ(gated.got, (std::vector<int>{100}));
        EXPECT_EQ(next.got, (std::vector<int>{101}));
    }
}

TEST(message_matcher, keeps_the_librarys_own_messages_from_wildcards) {
    message_matcher matcher;
    fake_receive any, own;
    matcher.enter(any, any_source, any_tag);
    matcher.enter(own, 1, -9);
    matcher.open(any);
    matcher.open(own);
    matcher.arrived(announce(1, -9, 100));
    matcher.arrived(announce(1, 0, 101));
    EXPECT_EQ(own.got, (std::vector<int>{100}));
    EXPECT_EQ(any.got, (std::vector<int>{101}));
}
