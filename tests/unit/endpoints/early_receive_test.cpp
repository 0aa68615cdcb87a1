// SPDX-License-Identifier: Apache-2.0
// Receives that have their message before their gate opens.
#include "endpoints/host/host_endpoint.hpp"
#include "unit/endpoints/two_ranks.hpp"

#include <gtest/gtest.h>

using namespace unit;

namespace {
class early_receive : public by_strategy {};
} // namespace

namespace {

constexpr std::size_t block = 4;

/// A receive behind a gate, and what comes after it on the same tag.
struct early_bench : two_ranks {
    fake_gate_state gate_of_first;
    std::vector<std::byte> first_in = std::vector<std::byte>(block), next_in = first_in, last_in = first_in;
    std::shared_ptr<command> first;

    void receive_gated(std::size_t bytes = block, int source = 0) {
        first_in.resize(bytes);
        std::vector<std::unique_ptr<gate>> gates;
        gates.push_back(std::make_unique<fake_gate>(gate_of_first));
        first = b.receive(first_in, source, tag, -1, std::move(gates));
    }
    void set_gate(gate::state to) {
        gate_of_first.value = to;
        b.clock.advance(std::chrono::milliseconds(200));
        settle();
    }
    void deliver(chooser& choices, std::size_t count) {
        settle();
        for (; count > 0 && network.deliverable() > 0; --count) {
            network.deliver(choices.choose(network.deliverable()));
            settle();
        }
    }
    /// A message that is announced, and then withdrawn.
    void send_and_cancel(chooser& choices) {
        auto sent = bench::pattern(block, 1);
        const auto send = a.send(sent, 1);
        run(choices);
        a.machine.cancel(send, {status::cancelled, 0, 0, "by the test"});
        run(choices);
        EXPECT_EQ(status_of(send), status::cancelled);
    }
    void end(chooser& choices) {
        run(choices);
        a.clock.advance(std::chrono::seconds(1));
        b.clock.advance(std::chrono::seconds(1));
        run(choices);
        expect_quiet();
    }
};

} // namespace

TEST_P(early_receive, has_its_message_in_memory_when_the_gate_opens) {
    for (const char* const eager : {"0", "64"}) {
        explore([&](chooser& choices) {
            early_bench both;
            both.a.settings.set("eager", eager);
            auto sent = bench::pattern(block);
            both.receive_gated();
            const auto send = both.a.send(sent, 1);
            both.run(choices);
            EXPECT_EQ(status_of(send), status::complete);
            EXPECT_EQ(status_of(both.first), status::submitted);
            EXPECT_NE(both.first_in, sent) << "the device's memory changed before the gate was open";
            both.set_gate(gate::state::open);
            EXPECT_EQ(status_of(both.first), status::complete);
            EXPECT_EQ(both.first_in, sent);
            both.end(choices);
        });
    }
}

TEST_P(early_receive, that_never_starts_leaves_every_message_to_the_receives_behind_it) {
    for (const char* const eager : {"0", "64"}) {
        for (const int source : {0, endpoints::any_source}) {
            for (std::size_t after = 0; after < 8; ++after) {
                explore(
                    [&](chooser& choices) {
                        early_bench both;
                        both.a.settings.set("eager", eager);
                        both.receive_gated(block, source);
                        const auto next = both.b.receive(both.next_in, 0);
                        auto one = bench::pattern(block, 1), two = bench::pattern(block, 2);
                        const auto send_one = both.a.send(one, 1), send_two = both.a.send(two, 1);
                        both.deliver(choices, after);
                        EXPECT_EQ(status_of(next), status::running) << "overtook a gated receive";
                        both.set_gate(gate::state::failed);
                        EXPECT_EQ(status_of(both.first), status::wait_list_failed);
                        both.run(choices);
                        const auto last = both.b.receive(both.last_in, 0);
                        both.run(choices);
                        for (const auto& each : {next, last, send_one, send_two})
                            ASSERT_EQ(status_of(each), status::complete);
                        EXPECT_EQ(both.next_in, one);
                        EXPECT_EQ(both.last_in, two);
                        both.end(choices);
                    },
                    300);
            }
        }
    }
}

TEST_P(early_receive, refuses_what_is_too_large_only_when_it_starts) {
    for (const bool starts : {true, false}) {
        explore([&](chooser& choices) {
            early_bench both;
            auto sent = bench::pattern(10);
            both.next_in.resize(10);
            both.receive_gated(6);
            const auto next = both.b.receive(both.next_in, 0);
            const auto send = both.a.send(sent, 1);
            both.run(choices);
            EXPECT_GT(status_of(send), status::complete);
            both.set_gate(starts ? gate::state::open : gate::state::failed);
            both.run(choices);
            EXPECT_EQ(status_of(both.first), starts ? status::message_truncated : status::wait_list_failed);
            EXPECT_EQ(status_of(send), starts ? status::message_truncated : status::complete);
            if (starts) {
                const auto again = both.a.send(sent, 1);
                both.run(choices);
                EXPECT_EQ(status_of(again), status::complete);
            }
            EXPECT_EQ(status_of(next), status::complete);
            EXPECT_EQ(both.next_in, sent);
            both.end(choices);
        });
    }
}

TEST_P(early_receive, ends_with_its_send_cancelled_at_any_time) {
    for (const std::size_t bytes : {block, std::size_t{10}}) {
        for (std::size_t after = 0; after < 6; ++after) {
            for (const auto becomes : {gate::state::open, gate::state::failed}) {
                explore(
                    [&](chooser& choices) {
                        early_bench both;
                        auto sent = bench::pattern(bytes, 1), instead = bench::pattern(bytes, 2);
                        both.receive_gated(bytes);
                        const auto send = both.a.send(sent, 1);
                        both.deliver(choices, after);
                        both.a.machine.cancel(send, {status::cancelled, 0, 0, "by the test"});
                        both.run(choices);
                        both.set_gate(becomes);
                        both.run(choices);
                        EXPECT_LE(status_of(send), status::complete);
                        const auto again = both.a.send(instead, 1);
                        both.run(choices);
                        // Whatever became of the first message, the second one arrives, once, and behind it.
                        std::vector<std::vector<std::byte>> arrived;
                        EXPECT_LE(status_of(both.first), status::complete);
                        if (status_of(both.first) == status::complete) arrived.push_back(both.first_in);
                        while (status_of(again) > status::complete) {
                            ASSERT_LT(arrived.size(), 3u);
                            both.next_in.assign(bytes, std::byte{});
                            const auto next = both.b.receive(both.next_in, 0);
                            both.run(choices);
                            ASSERT_EQ(status_of(next), status::complete);
                            arrived.push_back(both.next_in);
                        }
                        ASSERT_FALSE(arrived.empty());
                        EXPECT_EQ(arrived.back(), instead);
                        if (arrived.size() > 1) {
                            EXPECT_EQ(arrived.front(), sent);
                        }
                        both.end(choices);
                    },
                    300);
            }
        }
    }
}

TEST_P(early_receive, of_a_sender_that_is_gone_fails_when_it_starts) {
    for (std::size_t after = 0; after < 4; ++after) {
        for (const auto becomes : {gate::state::open, gate::state::failed}) {
            explore([&](chooser& choices) {
                early_bench both;
                auto sent = bench::pattern(block);
                both.receive_gated();
                both.a.send(sent, 1);
                both.deliver(choices, after);
                const bool all_came = after > 2;
                both.network.kill(0);
                both.b.messages.rank_gone(0);
                both.b.machine.step();
                both.gate_of_first.value = becomes;
                both.b.clock.advance(std::chrono::milliseconds(200));
                while (both.b.machine.step()) {}
                const auto got = status_of(both.first);
                const auto expected = becomes == gate::state::failed ? status::wait_list_failed
                                      : all_came                     ? status::complete
                                                                     : status::peer_failed;
                EXPECT_EQ(got, expected);
                EXPECT_EQ(both.b.machine.staging().held_bytes(), 0u);
                both.a.messages.rank_gone(1);
                both.settle();
                both.network.forget_undelivered();
                both.settle();
            });
        }
    }
}

TEST_P(early_receive, keeps_a_whole_message_although_its_sender_is_gone) {
    for (const char* const eager : {"0", "64"}) {
        early_bench both;
        chooser choices;
        both.a.settings.set("eager", eager);
        auto sent = bench::pattern(block);
        both.receive_gated(block, endpoints::any_source);
        const auto next = both.b.receive(both.next_in, endpoints::any_source);
        const auto send = both.a.send(sent, 1);
        both.run(choices);
        EXPECT_EQ(status_of(send), status::complete);
        both.b.messages.rank_gone(0);
        both.settle();
        both.set_gate(gate::state::failed);
        both.run(choices);
        EXPECT_EQ(status_of(next), status::complete);
        EXPECT_EQ(both.next_in, sent);
        both.end(choices);
    }
}

TEST_P(early_receive, does_not_hold_a_cancelled_send_that_it_could_not_take) {
    for (const bool memory_is_short : {true, false}) {
        early_bench both;
        chooser choices;
        if (memory_is_short) both.b.settings.set("staging", "8M");
        if (!memory_is_short) both.a.settings.set("block", "2"); // the message has two blocks
        auto instead = bench::pattern(block, 2);
        both.receive_gated();
        both.send_and_cancel(choices);
        EXPECT_TRUE(both.a.messages.quiet()) << "the withdrawal is answered while the gate is closed";
        const auto again = both.a.send(instead, 1);
        both.run(choices);
        both.set_gate(gate::state::open);
        both.run(choices);
        EXPECT_EQ(status_of(both.first), status::complete);
        EXPECT_EQ(status_of(again), status::complete);
        EXPECT_EQ(both.first_in, instead);
        both.end(choices);
    }
}

TEST_P(early_receive, that_had_no_memory_takes_another_message_whatever_its_strategy) {
    early_bench both;
    chooser choices;
    constexpr std::size_t bytes = 3 * block;
    both.b.settings.set("staging", "8M");
    auto instead = bench::pattern(bytes, 2);
    both.receive_gated(bytes);
    both.send_and_cancel(choices);
    both.a.settings.set("strategy", "mapped");
    both.a.settings.set("block", std::to_string(block));
    const auto again = bench::make(endpoints::make_host_endpoint(instead.data()),
                                   endpoints::make_send_endpoint({both.a.messages, both.a.turns}, 0, 1, tag), bytes,
                                   nullptr);
    both.a.machine.submit(again);
    both.run(choices);
    both.set_gate(gate::state::open);
    both.run(choices);
    EXPECT_EQ(status_of(both.first), status::complete);
    EXPECT_EQ(status_of(again), status::complete);
    EXPECT_EQ(both.first_in, instead);
    both.end(choices);
}

TEST_P(early_receive, fails_if_its_block_was_consumed_with_an_error) {
    if (shares_windows()) GTEST_SKIP() << "no block is a message that could be lost";
    early_bench both;
    chooser choices;
    auto sent = bench::pattern(block);
    both.receive_gated();
    both.network.spoil_blocks(1);
    const auto send = both.a.send(sent, 1);
    both.run(choices);
    both.set_gate(gate::state::open);
    both.run(choices);
    EXPECT_EQ(status_of(send), status::complete);
    EXPECT_EQ(status_of(both.first), status::peer_failed);
    EXPECT_NE(both.first_in, sent);
    both.end(choices);
}

CAUSEWAY_BY_HOST_STRATEGY(early_receive);
