// SPDX-License-Identifier: Apache-2.0
// What both ends of a message hear when MPI refuses or loses what one of them says.
#include "unit/endpoints/two_ranks.hpp"

using namespace unit;

namespace {
class rank_protocol_faults : public by_strategy {};
} // namespace

namespace {

constexpr int highest_tag = 100; // the listeners'

struct message_under_way {
    explicit message_under_way(two_ranks& where) : both(where) {
        receive = both.b.receive(got, 0);
        send = both.a.send(sent, 1);
    }

    /// A message that was never announced is none: its receive goes on to wait, and meets the next one.
    void expect_ends(chooser& choices, const std::string& when) {
        SCOPED_TRACE(when);
        ASSERT_LE(status_of(send), status::complete);
        if (status_of(receive) > status::complete) {
            ASSERT_EQ(send->report().error.mpi_error_class, fake_network::error_class);
            for (const int rank : {0, 1}) both.network.refuse_sends(rank, 0, 0);
            auto again = sent;
            const auto next = both.a.send(again, 1);
            both.run_on(choices);
            ASSERT_EQ(status_of(next), status::complete);
            ASSERT_EQ(status_of(receive), status::complete);
        }
        const auto moved = receive->report().bytes_moved[0];
        EXPECT_TRUE(std::equal(sent.begin(), sent.begin() + static_cast<std::ptrdiff_t>(moved), got.begin()));
        if (status_of(receive) == status::complete) {
            EXPECT_EQ(moved, sent.size());
        }
        both.expect_quiet();
    }
    [[nodiscard]] bool cause_is_told() const {
        return send->report().error.mpi_error_class == fake_network::error_class ||
               receive->report().error.mpi_error_class == fake_network::error_class;
    }

    two_ranks& both;
    std::vector<std::byte> sent = bench::pattern(14), got = std::vector<std::byte>(14);
    std::shared_ptr<command> send, receive;
};

std::string name_of(int rank, int nth, int count) {
    return "rank " + std::to_string(rank) + ", " + std::to_string(count) + " from " + std::to_string(nth);
}

} // namespace

TEST_P(rank_protocol_faults, end_both_when_any_messages_are_refused) {
    for (const int rank : {0, 1})
        for (const int count : {1, 2, 5})
            for (int nth = 0; nth < 6; ++nth)
                explore(
                    [&](chooser& choices) {
                        two_ranks both;
                        both.network.refuse_sends(rank, nth, nth + count);
                        message_under_way one(both);
                        both.run_on(choices);
                        // Four blocks and an RTS; a CTS. Headers about a window are repeated.
                        const bool hits = nth < (rank == 0 && !shares_windows() ? 5 : 1);
                        EXPECT_EQ(one.cause_is_told(), hits) << name_of(rank, nth, count);
                        one.expect_ends(choices, name_of(rank, nth, count));
                    },
                    300);
}

TEST_P(rank_protocol_faults, end_both_when_any_control_message_is_lost) {
    for (const int rank : {0, 1})
        explore(
            [&](chooser& choices) {
                two_ranks both;
                both.network.lose_sends(rank, 0, 1);
                message_under_way one(both);
                both.run_on(choices);
                EXPECT_TRUE(one.cause_is_told());
                one.expect_ends(choices, name_of(rank, 0, 1));
            },
            300);
}

TEST_P(rank_protocol_faults, end_both_when_any_receive_of_a_block_is_refused) {
    // The first four are the listeners.
    for (int nth = 4; nth < 12; ++nth)
        for (const int count : {1, 2, 5})
            explore(
                [&](chooser& choices) {
                    two_ranks both;
                    SCOPED_TRACE(name_of(1, nth, count));
                    both.network.refuse_receives(1, nth, nth + count);
                    message_under_way one(both);
                    // A listener that cannot be posted again ends what is received, not what is under way.
                    both.run_on(choices);
                    EXPECT_LE(status_of(one.send), status::complete);
                    EXPECT_LE(status_of(one.receive), status::complete);
                    const auto moved = one.receive->report().bytes_moved[0];
                    EXPECT_TRUE(std::equal(one.sent.begin(), one.sent.begin() + static_cast<std::ptrdiff_t>(moved),
                                           one.got.begin()));
                    EXPECT_FALSE(both.a.messages.busy());
                    EXPECT_FALSE(both.b.messages.busy());
                },
                300);
}

TEST_P(rank_protocol_faults, repeat_what_is_said_after_a_cancellation) {
    for (const int rank : {0, 1}) {
        two_ranks both;
        auto sent = bench::pattern(14), got = std::vector<std::byte>(14);
        const auto unrelated = both.b.receive(got, 0, tag + 1);
        const auto send = both.a.send(sent, 1);
        chooser choices;
        both.run(choices);
        both.network.refuse_sends(rank, 0, 3);
        both.a.machine.cancel(send, {status::cancelled, 0, 0, "by the test"});
        both.run_on(choices);
        EXPECT_EQ(status_of(send), status::cancelled);
        both.b.machine.cancel(unrelated, {status::cancelled, 0, 0, "by the test"});
        both.settle();
        both.expect_quiet("rank " + std::to_string(rank));
    }
}

TEST_P(rank_protocol_faults, tell_a_send_that_is_too_large_although_the_refusal_is_refused) {
    two_ranks both;
    both.network.refuse_sends(1, 0, 3);
    auto sent = bench::pattern(14), got = std::vector<std::byte>(6);
    const auto receive = both.b.receive(got, 0);
    const auto send = both.a.send(sent, 1);
    chooser choices;
    both.run_on(choices);
    EXPECT_EQ(status_of(receive), status::message_truncated);
    EXPECT_EQ(status_of(send), status::message_truncated);
    both.expect_quiet();
}

TEST_P(rank_protocol_faults, end_what_waits_for_answers_when_a_rank_hears_no_more) {
    for (const int broken : {0, 1})
        for (std::size_t after = 0; after < 8; ++after)
            explore(
                [&](chooser& choices) {
                    two_ranks both;
                    message_under_way one(both);
                    auto unmatched = std::vector<std::byte>(14), anything = std::vector<std::byte>(14);
                    const auto from_broken = (broken == 0 ? both.b : both.a).receive(unmatched, broken, tag + 1);
                    const auto at_broken = (broken == 0 ? both.a : both.b)
                                               .receive(anything, endpoints::any_source, tag + 2);
                    both.settle();
                    for (std::size_t i = 0; i < after && both.network.deliverable() > 0; ++i) {
                        both.network.deliver(choices.choose(both.network.deliverable()));
                        both.settle();
                    }
                    both.network.break_receive(broken, highest_tag);
                    both.run_on(choices);
                    const auto when = "rank " + std::to_string(broken) + " after " + std::to_string(after);
                    EXPECT_LE(status_of(one.send), status::complete) << when;
                    EXPECT_LE(status_of(one.receive), status::complete) << when;
                    EXPECT_EQ(status_of(from_broken), status::peer_failed) << when;
                    EXPECT_EQ(status_of(at_broken), status::peer_failed) << when;
                    EXPECT_EQ(at_broken->report().error.mpi_error_class, fake_network::error_class) << when;
                    const auto moved = one.receive->report().bytes_moved[0];
                    EXPECT_TRUE(std::equal(one.sent.begin(), one.sent.begin() + static_cast<std::ptrdiff_t>(moved),
                                           one.got.begin()));
                    EXPECT_FALSE(both.a.messages.busy()) << when;
                    EXPECT_FALSE(both.b.messages.busy()) << when;
                },
                500);
}

TEST_P(rank_protocol_faults, fail_what_comes_after_a_rank_hears_no_more_on_both_ranks) {
    two_ranks both;
    message_under_way before(both);
    chooser choices;
    both.run(choices);
    both.network.break_receive(1, highest_tag);
    for (auto* const rank : {&both.b, &both.a}) rank->messages.poll(rank->clock.now());
    both.network.deliver(0);
    both.a.messages.poll(both.a.clock.now());
    auto sent = bench::pattern(14), got = std::vector<std::byte>(14);
    const auto all = {both.a.send(sent, 1), both.a.receive(got, 1), both.b.send(sent, 0), both.b.receive(got, 0),
                      both.b.receive(got, endpoints::any_source)};
    both.run_on(choices);
    for (const auto& each : all) {
        EXPECT_EQ(status_of(each), status::peer_failed);
        EXPECT_NE(each->report().error.message.find("hear"), std::string::npos) << each->report().error.message;
    }
    EXPECT_FALSE(both.a.messages.busy());
    EXPECT_FALSE(both.b.messages.busy());
}

TEST_P(rank_protocol_faults, leave_no_announcement_that_a_deaf_rank_could_take) {
    two_ranks both;
    chooser choices;
    std::vector<std::byte> small_in(4), large_in(10);
    auto small = bench::pattern(4), large = bench::pattern(10);
    const auto listens = both.b.receive(small_in, 0, tag + 1);
    const auto announced = both.a.send(large, 1);
    both.run_on(choices);
    both.network.refuse_receives(1, 0, 1000);
    const auto second = both.a.send(small, 1, tag + 1); // the listener that gets it cannot be posted again
    both.run_on(choices);
    both.network.refuse_receives(1, 0, 0);
    EXPECT_EQ(status_of(announced), status::peer_failed);
    EXPECT_LE(status_of(second), status::complete);
    EXPECT_LE(status_of(listens), status::complete);
    const auto late = both.b.receive(large_in, 0);
    both.run_on(choices);
    EXPECT_EQ(status_of(late), status::peer_failed);
}

CAUSEWAY_BY_STRATEGY(rank_protocol_faults);
