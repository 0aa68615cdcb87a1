// SPDX-License-Identifier: Apache-2.0
// Clocks of two ranks, compared by what they say to each other anyway.
#include "endpoints/mpi/peer_clocks.hpp"
#include "unit/transfer/fake_recorder.hpp"
#include "unit/transfer/fakes.hpp"

#include <gtest/gtest.h>

using namespace unit;
using namespace std::chrono_literals;
using causeway::endpoints::peer_clocks;

namespace {

/// Two ranks; the second one's clock is ahead.
struct two_clocks {
    explicit two_clocks(std::chrono::nanoseconds ahead) { theirs.advance(ahead); }
    void pass(std::chrono::nanoseconds time) {
        ours.advance(time);
        theirs.advance(time);
    }
    void say_to_them(std::chrono::nanoseconds takes) {
        const auto said = here.now(), least = here.least_transit(1);
        pass(takes);
        there.add(0, said, least);
    }
    void say_to_us(std::chrono::nanoseconds takes) {
        const auto said = there.now(), least = there.least_transit(0);
        pass(takes);
        here.add(1, said, least);
    }
    fake_clock ours, theirs;
    fake_recorder we{ours}, they{theirs};
    peer_clocks here{we}, there{they};
};

} // namespace

TEST(peer_clocks, enclose_the_difference_by_the_quickest_messages) {
    for (const auto ahead : {0ns, 5000000ns, -3000000000ns}) {
        two_clocks two(ahead);
        for (const auto takes : {900us, 20us, 300us}) {
            two.say_to_them(takes);
            two.pass(50us);
            two.say_to_us(takes + 10us);
            two.pass(50us);
        }
        ASSERT_FALSE(two.we.peers.empty());
        const auto& last = two.we.peers.back();
        EXPECT_EQ(last.job_rank, 1);
        EXPECT_LE(last.least, ahead.count());
        EXPECT_GE(last.most, ahead.count());
        EXPECT_LE(last.most - last.least, 50000) << "the quickest of each direction took 20 and 30 us";
    }
}

TEST(peer_clocks, say_nothing_of_a_rank_that_was_heard_in_one_direction_only) {
    two_clocks two(1ms);
    for (int i = 0; i < 5; ++i) two.say_to_us(10us);
    EXPECT_TRUE(two.we.peers.empty());
    two.here.add(1, 0, 0); // from a rank that records nothing
    EXPECT_TRUE(two.we.peers.empty());
}

TEST(peer_clocks, forget_old_messages_as_clocks_drift) {
    two_clocks two(0ns);
    two.say_to_them(10us);
    two.say_to_us(10us);
    two.theirs.advance(1ms);
    two.pass(10s);
    two.say_to_them(10us);
    two.say_to_us(10us);
    two.say_to_them(10us);
    two.say_to_us(10us);
    EXPECT_GE(two.we.peers.back().most, 1000000);
    EXPECT_GT(two.we.peers.back().least, 900000);
}

TEST(peer_clocks, hand_no_old_messages_to_the_other_rank_either) {
    two_clocks two(0ns);
    for (int i = 0; i < 2; ++i) {
        two.say_to_them(10us);
        two.say_to_us(10us);
    }
    two.ours.advance(1ms);
    two.pass(10s);
    two.say_to_them(10us);
    two.say_to_us(10us);
    two.say_to_them(10us);
    EXPECT_GE(two.they.peers.back().most, 1000000);
    EXPECT_GT(two.they.peers.back().least, 900000);
}
