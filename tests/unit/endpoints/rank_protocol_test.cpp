// SPDX-License-Identifier: Apache-2.0
// What two ranks tell each other, in every order in which their messages can arrive.
#include "unit/endpoints/two_ranks.hpp"

#include "endpoints/host/host_endpoint.hpp"

using namespace unit;

namespace {
class rank_protocol : public by_strategy {};
} // namespace

TEST_P(rank_protocol, moves_a_message_of_several_blocks_in_every_order_of_arrival) {
    const auto runs = explore([](chooser& choices) {
        two_ranks both;
        auto sent = bench::pattern(10), got = std::vector<std::byte>(12);
        const auto receive = both.b.receive(got, 0);
        const auto send = both.a.send(sent, 1);
        both.run(choices);
        ASSERT_EQ(status_of(send), status::complete);
        ASSERT_EQ(status_of(receive), status::complete);
        EXPECT_EQ(receive->report().bytes_moved[0], 10u);
        EXPECT_TRUE(std::equal(sent.begin(), sent.end(), got.begin()));
        both.expect_quiet();
    });
    EXPECT_GE(runs, 1u);
}

TEST_P(rank_protocol, moves_messages_both_ways_with_two_blocks_of_memory_each) {
    explore(
        [](chooser& choices) {
            two_ranks both;
            for (auto* const rank : {&both.a, &both.b}) rank->settings.set("staging", "8K");
            for (auto* const rank : {&both.a, &both.b}) rank->settings.set("block", "4K");
            auto a_out = bench::pattern(9000, 1), b_out = bench::pattern(9000, 2);
            std::vector<std::byte> a_in(9000), b_in(9000), a_in_too(9000), b_in_too(9000);
            std::vector<std::shared_ptr<command>> all;
            all.push_back(both.a.receive(a_in, 1));
            all.push_back(both.a.receive(a_in_too, 1));
            all.push_back(both.b.receive(b_in, 0));
            all.push_back(both.b.receive(b_in_too, 0));
            all.push_back(both.a.send(a_out, 1));
            all.push_back(both.a.send(a_out, 1));
            all.push_back(both.b.send(b_out, 0));
            all.push_back(both.b.send(b_out, 0));
            both.run(choices);
            for (const auto& each : all) ASSERT_EQ(status_of(each), status::complete);
            EXPECT_EQ(a_in, b_out);
            EXPECT_EQ(b_in_too, a_out);
            both.expect_quiet();
        },
        2000);
}

TEST_P(rank_protocol, sends_no_huge_blocks_between_nodes) {
    two_ranks both{.node_of_b = 2};
    for (auto* const rank : {&both.a, &both.b}) rank->settings.set("block", "64M");
    auto sent = bench::pattern(std::size_t{9} << 20), got = std::vector<std::byte>(sent.size());
    const auto receive = both.b.receive(got, 0);
    const auto send = both.a.send(sent, 1);
    chooser choices;
    both.run(choices);
    EXPECT_EQ(status_of(send), status::complete);
    EXPECT_TRUE(got == sent);
    for (const auto& each : {send, receive}) EXPECT_EQ(each->report().chosen.block_bytes, std::size_t{256} << 10);
    both.expect_quiet();
}

TEST_P(rank_protocol, carries_small_messages_in_one_piece) {
    two_ranks both;
    both.a.settings.set("eager", "64");
    both.a.settings.set("block", "64");
    auto sent = bench::pattern(10), got = std::vector<std::byte>(10);
    const auto send = both.a.send(sent, 1);
    const auto receive = both.b.receive(got, 0);
    both.settle();
    EXPECT_EQ(both.network.deliverable(), 1u);
    chooser choices;
    both.run(choices);
    EXPECT_EQ(status_of(send), status::complete);
    EXPECT_EQ(got, sent);
    both.expect_quiet();
}

TEST_P(rank_protocol, carries_small_messages_into_host_memory) {
    two_ranks both;
    both.a.settings.set("eager", "64");
    both.a.settings.set("block", "64");
    auto sent = bench::pattern(10), got = std::vector<std::byte>(10);
    const auto receive = bench::make(
        endpoints::make_receive_endpoint({both.b.messages, both.b.turns}, 0, 0, tag, nullptr),
        endpoints::make_host_endpoint(got.data()), 10, nullptr);
    both.b.machine.submit(receive);
    const auto send = both.a.send(sent, 1);
    chooser choices;
    both.run(choices);
    EXPECT_EQ(status_of(receive), status::complete);
    EXPECT_EQ(got, sent);
    both.expect_quiet();
}

TEST_P(rank_protocol, tells_both_ends_of_truncation_and_stays_usable) {
    explore([](chooser& choices) {
        two_ranks both;
        auto sent = bench::pattern(10), got = std::vector<std::byte>(6), next = std::vector<std::byte>(10);
        const auto send = both.a.send(sent, 1);
        const auto receive = both.b.receive(got, 0);
        const auto send_again = both.a.send(sent, 1);
        const auto receive_again = both.b.receive(next, 0);
        both.run(choices);
        EXPECT_EQ(status_of(send), status::message_truncated);
        EXPECT_EQ(status_of(receive), status::message_truncated);
        EXPECT_EQ(status_of(send_again), status::complete);
        EXPECT_EQ(status_of(receive_again), status::complete);
        EXPECT_EQ(next, sent);
        both.expect_quiet();
    });
}

TEST_P(rank_protocol, ends_both_when_any_step_of_the_sender_or_receiver_fails) {
    for (int failing = 0; failing < 3; ++failing) {
        for (const bool sender_fails : {true, false}) {
            if (!sender_fails && where == home::in_window) continue; // its device has nothing to do
            explore([&](chooser& choices) {
                two_ranks both;
                auto sent = bench::pattern(10), got = std::vector<std::byte>(10);
                const auto send = both.a.send(sent, 1, tag, sender_fails ? failing : -1);
                const auto receive = both.b.receive(got, 0, tag, sender_fails ? -1 : failing);
                both.run(choices);
                const auto& broken = sender_fails ? send : receive;
                EXPECT_EQ(status_of(broken), status::out_of_resources);
                // The last block may have left before the receiver says that it gives up.
                if (sender_fails) {
                    EXPECT_EQ(status_of(receive), status::peer_failed);
                } else {
                    EXPECT_LE(status_of(send), status::complete);
                }
                const auto moved = receive->report().bytes_moved[0];
                EXPECT_TRUE(std::equal(sent.begin(), sent.begin() + static_cast<std::ptrdiff_t>(moved), got.begin()));
                both.expect_quiet();
            });
        }
    }
}

TEST_P(rank_protocol, ends_both_when_either_is_cancelled_after_any_message) {
    for (std::size_t after = 0; after < 8; ++after) {
        for (const bool cancels_send : {true, false}) {
            two_ranks both;
            auto sent = bench::pattern(14), got = std::vector<std::byte>(14);
            const auto send = both.a.send(sent, 1);
            const auto receive = both.b.receive(got, 0);
            both.settle();
            for (std::size_t i = 0; i < after && both.network.deliverable() > 0; ++i) {
                both.network.deliver(0);
                both.settle();
            }
            const failure reason{status::cancelled, 0, 0, "by the test"};
            if (cancels_send) {
                both.a.machine.cancel(send, reason);
            } else {
                both.b.machine.cancel(receive, reason);
            }
            both.settle();
            chooser choices;
            both.run(choices);
            // What was not matched yet still waits for a partner; give it one.
            auto spare_in = std::vector<std::byte>(14), spare_out = bench::pattern(14);
            std::shared_ptr<command> partner;
            if (status_of(receive) > status::complete) partner = both.a.send(spare_out, 1);
            if (status_of(send) > status::complete) partner = both.b.receive(spare_in, 0);
            both.run(choices);
            EXPECT_LE(status_of(send), status::complete) << after << cancels_send;
            EXPECT_LE(status_of(receive), status::complete) << after << cancels_send;
            both.expect_quiet("after " + std::to_string(after) + (cancels_send ? " send" : " receive"));
        }
    }
}

TEST_P(rank_protocol, keeps_the_order_of_sends_when_the_first_is_gated) {
    two_ranks both;
    fake_gate_state entry;
    auto first = bench::pattern(10, 1), second = bench::pattern(10, 2), third = bench::pattern(10, 3);
    std::vector<std::byte> got(10), got_too(10), other(10);
    std::vector<std::unique_ptr<gate>> gates;
    gates.push_back(std::make_unique<fake_gate>(entry));
    both.a.send(first, 1, tag, -1, std::move(gates));
    both.a.send(second, 1);
    both.a.send(third, 1, tag + 1);
    const auto receive = both.b.receive(got, 0), receive_too = both.b.receive(got_too, 0);
    const auto receive_other = both.b.receive(other, 0, tag + 1);
    chooser choices;
    both.run(choices);
    EXPECT_EQ(status_of(receive), status::running);
    EXPECT_EQ(status_of(receive_other), status::complete);
    EXPECT_EQ(other, third);
    entry.value = gate::state::open;
    both.a.clock.advance(std::chrono::seconds(1));
    both.run(choices);
    EXPECT_EQ(got, first);
    EXPECT_EQ(got_too, second);
    both.expect_quiet();
}

TEST_P(rank_protocol, keeps_the_order_of_open_sends_with_different_tags) {
    two_ranks both;
    both.a.settings.set("eager", "64");
    both.a.settings.set("block", "64");
    pending_steps slow;
    auto small = bench::pattern(10, 1), large = bench::pattern(100, 2);
    std::vector<std::byte> got(100), got_too(100);
    // The first reads its bytes before it can say anything; the second could announce itself at once.
    fake_endpoint::life life;
    both.a.machine.submit(
        bench::make(std::make_unique<fake_endpoint>(slow, small, endpoint_traits{.kind = medium::device}, life),
                    endpoints::make_send_endpoint({both.a.messages, both.a.turns}, 0, 1, 1), small.size(), nullptr));
    both.a.send(large, 1, 2);
    const auto first = both.b.receive(got, 0, endpoints::any_tag),
               second = both.b.receive(got_too, 0, endpoints::any_tag);
    chooser choices;
    both.run(choices);
    EXPECT_EQ(status_of(first), status::running);
    while (slow.count() > 0) {
        slow.finish(0);
        both.run(choices);
    }
    EXPECT_EQ(first->report().bytes_moved[0], 10u);
    EXPECT_EQ(got_too, large);
    both.expect_quiet();
}

TEST_P(rank_protocol, ends_small_and_large_sends_to_a_rank_that_is_gone) {
    // Told by hand what the liveness check would tell: every exchange of the rank ends.
    two_ranks both;
    both.a.settings.set("eager", "64");
    auto small = bench::pattern(10), none = std::vector<std::byte>(), large = bench::pattern(100);
    both.network.kill(1);
    both.a.settings.set("block", "64");
    const auto all = {both.a.send(small, 1), both.a.send(none, 1), both.a.send(large, 1)};
    both.settle();
    for (const auto& each : all) EXPECT_EQ(status_of(each), status::running);
    both.a.messages.rank_gone(1);
    both.settle();
    for (const auto& each : all) EXPECT_EQ(status_of(each), status::peer_failed);
    both.network.forget_undelivered();
    both.settle();
}

TEST_P(rank_protocol, ends_what_waits_for_a_rank_that_who_uses_the_communicator_found_gone) {
    const failure why{status::peer_failed, 0, 0, "PE 1 is gone"};
    two_ranks both;
    both.a.settings.set("eager", "64");
    both.a.settings.set("block", "64");
    auto small = bench::pattern(10), large = bench::pattern(100), got = std::vector<std::byte>(10);
    both.network.kill(1);
    const auto all = {both.a.send(small, 1), both.a.send(large, 1), both.a.receive(got, 1)};
    both.settle();
    both.a.messages.peer_lost(0, 1, why, comm::loss::process_ended);
    both.settle();
    for (const auto& each : all) EXPECT_EQ(status_of(each), status::running) << "what it sent may still come";
    both.a.clock.advance(std::chrono::seconds(1));
    both.settle();
    for (const auto& each : all) {
        EXPECT_EQ(status_of(each), status::peer_failed);
        EXPECT_EQ(each->report().error.message, why.message);
    }
    // And what begins later.
    for (const auto& each : {both.a.send(small, 1), both.a.send(large, 1), both.a.receive(got, 1)}) {
        both.settle();
        EXPECT_EQ(status_of(each), status::peer_failed);
        EXPECT_EQ(each->report().error.message, why.message);
    }
    EXPECT_FALSE(both.a.messages.busy());
    both.network.forget_undelivered();
    both.settle();
}

TEST_P(rank_protocol, never_uses_memory_again_to_which_a_rank_out_of_reach_may_send) {
    if (by_strategy::on_device()) GTEST_SKIP() << "what is in a window MPI does not write to";
    const failure why{status::peer_failed, 0, 0, "PE 1 is out of reach"};
    for (const bool breaks_off : {false, true}) { // and then takes what still comes
        two_ranks both;
        for (auto* const each : {&both.a, &both.b}) each->settings.set("block", "64");
        if (by_strategy::shares_windows()) both.b.settings.set("strategy", "pipelined"); // the bytes come as messages
        auto large = bench::pattern(1000), got = std::vector<std::byte>(1000);
        const auto sent = both.b.send(large, 0);
        const auto received = both.a.receive(got, 1, tag, breaks_off ? 0 : -1);
        both.settle();
        while (both.network.open_receives(0) == 4) { // until blocks are expected
            both.network.deliver(0);
            both.settle();
        }
        for (int i = 0; breaks_off && i < 2; ++i) { // the answer, and a block
            both.network.deliver(0);
            both.settle();
        }
        both.network.begin_blocks(0);
        both.network.kill(1);
        both.a.messages.peer_lost(0, 1, why, comm::loss::out_of_reach);
        both.settle();
        both.a.clock.advance(std::chrono::seconds(1));
        both.settle();
        EXPECT_EQ(status_of(received), breaks_off ? status::out_of_resources : status::peer_failed);
        // Its bytes come in the middle of other transfers that use memory of the same kind and size.
        const auto pattern = bench::pattern(1000, 2);
        auto from = pattern;
        std::vector<std::byte> to(pattern.size());
        pending_steps steps;
        fake_endpoint::life life;
        const auto other = bench::make(
            std::make_unique<fake_endpoint>(steps, from, endpoint_traits{.kind = medium::device}, life),
            std::make_unique<fake_endpoint>(steps, to, endpoint_traits{.kind = medium::device}, life), to.size(),
            nullptr);
        both.a.machine.submit(other);
        both.settle();
        while (steps.count() > 0) {
            EXPECT_GT(both.network.write_to_abandoned(), 0u);
            steps.finish(0);
            both.settle();
        }
        EXPECT_EQ(status_of(other), status::complete);
        EXPECT_EQ(to, pattern);
        // The other one's process is there, in the test.
        both.b.messages.peer_lost(0, 0, why, comm::loss::process_ended);
        both.settle();
        both.b.clock.advance(std::chrono::seconds(1));
        both.settle();
        EXPECT_TRUE(sent->complete());
        both.network.forget_undelivered();
        both.settle();
        EXPECT_EQ(both.a.machine.staging().held_bytes(), 0u);
    }
}

TEST_P(rank_protocol, lets_go_of_the_eager_message_that_nobody_may_take) {
    const failure why{status::peer_failed, 0, 0, "PE 1 has left"};
    two_ranks both;
    both.a.settings.set("eager", "64");
    both.a.settings.set("block", "64");
    auto one = bench::pattern(10, 1), other = bench::pattern(10, 2), large = bench::pattern(100, 3);
    const auto lost = both.a.send(one, 1, 1), kept = both.a.send(other, 1, 2), announced = both.a.send(large, 1, 1);
    both.settle();
    both.a.messages.let_go(0, 1, 1, why);
    both.settle();
    EXPECT_EQ(status_of(lost), status::peer_failed);
    EXPECT_EQ(lost->report().error.message, why.message);
    EXPECT_EQ(status_of(kept), status::running);
    EXPECT_EQ(status_of(announced), status::running);
    // It may come all the same.
    std::vector<std::byte> first(10), second(10), third(100);
    const auto all = {both.b.receive(first, 0, 1), both.b.receive(second, 0, 2), both.b.receive(third, 0, 1)};
    chooser choices;
    both.run(choices);
    for (const auto& each : all) EXPECT_EQ(status_of(each), status::complete);
    EXPECT_EQ(first, one);
    EXPECT_EQ(second, other);
    EXPECT_EQ(third, large);
    EXPECT_EQ(status_of(kept), status::complete);
    EXPECT_EQ(status_of(announced), status::complete);
    both.expect_quiet();
}

TEST_P(rank_protocol, waits_for_no_answer_of_a_rank_that_may_never_give_one) {
    two_ranks both;
    both.b.messages.listen(0);
    both.a.settings.set("block", "64");
    auto large = bench::pattern(100);
    const auto announced = both.a.send(large, 1);
    both.settle();
    both.a.machine.cancel(announced, {status::peer_failed, 0, 0, "PE 1 has left"});
    both.settle();
    EXPECT_EQ(status_of(announced), status::peer_failed);
    EXPECT_TRUE(both.a.messages.busy()) << "the other rank answers what was withdrawn";
    both.a.messages.let_go(0, 1, tag, {status::peer_failed, 0, 0, "PE 1 has left"});
    chooser choices;
    while (both.network.deliverable() > 0 && both.a.messages.busy()) { // MPI has its messages yet
        both.network.deliver(choices.choose(both.network.deliverable()));
        both.a.machine.step();
    }
    EXPECT_FALSE(both.a.messages.busy());
    // It may answer all the same.
    both.run(choices);
    both.expect_quiet();
}

TEST_P(rank_protocol, asks_mpi_for_nothing_when_it_has_ended) {
    two_ranks both;
    both.a.settings.set("eager", "64");
    auto small = bench::pattern(10), large = bench::pattern(100), got = std::vector<std::byte>(10);
    (void)both.a.messages.matcher(0);
    both.a.messages.close_all();
    const auto all = {both.a.send(small, 1), both.a.send(large, 1), both.a.receive(got, 1)};
    both.settle();
    for (const auto& each : all) EXPECT_EQ(status_of(each), status::cancelled);
    EXPECT_EQ(both.network.deliverable(), 0u);
    EXPECT_EQ(both.network.open_receives(0), 0u);
}

TEST_P(rank_protocol, ends_what_is_under_way_when_mpi_ends) {
    // However far it has come; no more messages come then.
    for (std::size_t delivered = 0; delivered < 8; ++delivered) {
        two_ranks both;
        auto to_b = bench::pattern(100), to_a = bench::pattern(100, 2);
        std::vector<std::byte> at_a(100), at_b(100);
        const auto all = {both.a.send(to_b, 1), both.a.receive(at_a, 1)};
        const auto others = {both.b.send(to_a, 0), both.b.receive(at_b, 0)};
        both.settle();
        for (std::size_t i = 0; i < delivered && both.network.deliverable() > 0; ++i) {
            both.network.deliver(0);
            both.settle();
        }
        for (const int rank : {0, 1}) both.network.begin_blocks(rank);
        both.network.kill(1);
        both.a.messages.close_all();
        both.settle();
        for (const auto& each : all) {
            EXPECT_EQ(status_of(each), status::cancelled) << delivered;
            EXPECT_EQ(each->report().error.message, "the communicator was freed, or MPI has ended");
        }
        EXPECT_FALSE(both.a.messages.busy());
        EXPECT_EQ(both.a.machine.staging().held_bytes(), 0u);
        both.b.messages.close_all();
        both.settle();
        for (const auto& each : others) EXPECT_EQ(status_of(each), status::cancelled);
        both.network.forget_undelivered();
        both.settle();
    }
}

CAUSEWAY_BY_STRATEGY(rank_protocol);
