// SPDX-License-Identifier: Apache-2.0
// What two ranks tell each other, in every order in which their messages can arrive.
#include "unit/endpoints/two_ranks.hpp"

using namespace unit;

TEST(rank_protocol, moves_a_message_of_several_blocks_in_every_order_of_arrival) {
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

TEST(rank_protocol, moves_messages_both_ways_with_two_blocks_of_memory_each) {
    explore([](chooser& choices) {
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
    }, 2000);
}

TEST(rank_protocol, carries_small_messages_in_one_piece) {
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

TEST(rank_protocol, tells_both_ends_of_truncation_and_stays_usable) {
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

TEST(rank_protocol, ends_both_when_any_step_of_the_sender_or_receiver_fails) {
    for (int failing = 0; failing < 3; ++failing) {
        for (const bool sender_fails : {true, false}) {
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

TEST(rank_protocol, ends_both_when_either_is_cancelled_after_any_message) {
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

TEST(rank_protocol, keeps_the_order_of_sends_when_the_first_is_gated) {
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

TEST(rank_protocol, keeps_the_order_of_open_sends_with_different_tags) {
    two_ranks both;
    both.a.settings.set("eager", "64");
    both.a.settings.set("block", "64");
    pending_steps slow;
    auto small = bench::pattern(10, 1), large = bench::pattern(100, 2);
    std::vector<std::byte> got(100), got_too(100);
    // The first reads its bytes before it can say anything; the second could announce itself at once.
    fake_endpoint::life life;
    both.a.machine.submit(bench::make(
        std::make_unique<fake_endpoint>(slow, small, endpoint_traits{.kind = medium::device}, life),
        endpoints::make_send_endpoint({both.a.talk, both.a.turns}, 0, 1, 1), small.size(), nullptr));
    both.a.send(large, 1, 2);
    const auto first = both.b.receive(got, 0, endpoints::any_tag), second = both.b.receive(got_too, 0, endpoints::any_tag);
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

TEST(rank_protocol, ends_small_and_large_sends_to_a_rank_that_is_gone) {
    // Told by hand what the liveness check would tell: every conversation of the rank ends.
    two_ranks both;
    both.a.settings.set("eager", "64");
    auto small = bench::pattern(10), none = std::vector<std::byte>(), large = bench::pattern(100);
    both.network.kill(1);
    both.a.settings.set("block", "64");
    const auto all = {both.a.send(small, 1), both.a.send(none, 1), both.a.send(large, 1)};
    both.settle();
    for (const auto& each : all) EXPECT_EQ(status_of(each), status::running);
    both.a.talk.rank_gone(1);
    both.settle();
    for (const auto& each : all) EXPECT_EQ(status_of(each), status::peer_failed);
    both.network.forget_undelivered();
    both.settle();
}

namespace {

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
    void end(chooser& choices) {
        run(choices);
        a.clock.advance(std::chrono::seconds(1));
        b.clock.advance(std::chrono::seconds(1));
        run(choices);
        expect_quiet();
    }
};

} // namespace

TEST(early_receive, has_its_message_in_memory_when_the_gate_opens) {
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

TEST(early_receive, that_never_starts_leaves_every_message_to_the_receives_behind_it) {
    for (const char* const eager : {"0", "64"}) {
        for (const int source : {0, endpoints::any_source}) {
            for (std::size_t after = 0; after < 8; ++after) {
                explore([&](chooser& choices) {
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
                }, 300);
            }
        }
    }
}

TEST(early_receive, refuses_what_is_too_large_only_when_it_starts) {
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

TEST(early_receive, ends_with_its_send_cancelled_at_any_time) {
    for (const std::size_t bytes : {block, std::size_t{10}}) {
        for (std::size_t after = 0; after < 6; ++after) {
            for (const auto becomes : {gate::state::open, gate::state::failed}) {
                explore([&](chooser& choices) {
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
                }, 300);
            }
        }
    }
}

TEST(early_receive, of_a_sender_that_is_gone_fails_when_it_starts) {
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
                both.b.talk.rank_gone(0);
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
                both.a.talk.rank_gone(1);
                both.settle();
                both.network.forget_undelivered();
                both.settle();
            });
        }
    }
}
