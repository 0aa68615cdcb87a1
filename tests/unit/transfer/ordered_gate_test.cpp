// SPDX-License-Identifier: Apache-2.0
// Passing one by one.
#include "transfer/ordered_gate.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <vector>

using namespace causeway::transfer;

TEST(ordered_gate, lets_the_first_pass_at_once_and_the_next_when_it_leaves) {
    ordered_gate gate;
    std::vector<int> came;
    turn a(gate, {1}), b(gate, {1}), c(gate, {1});
    a.join();
    b.join();
    c.join();
    c.wait([&] { came.push_back(3); });
    b.wait([&] { came.push_back(2); });
    EXPECT_TRUE(came.empty());
    a.wait([&] { came.push_back(1); });
    EXPECT_EQ(came, (std::vector<int>{1}));
    a.leave();
    EXPECT_EQ(came, (std::vector<int>{1, 2}));
    b.leave();
    EXPECT_EQ(came, (std::vector<int>{1, 2, 3}));
}

TEST(ordered_gate, holds_back_later_ones_behind_one_that_does_not_ask_yet) {
    ordered_gate gate;
    bool came = false;
    turn gated(gate, {1}), later(gate, {1}), elsewhere(gate, {2});
    gated.join();
    later.join();
    elsewhere.join();
    later.wait([&] { came = true; });
    EXPECT_FALSE(came);
    bool other = false;
    elsewhere.wait([&] { other = true; });
    EXPECT_TRUE(other);
    gated.leave();
    EXPECT_TRUE(came);
}

TEST(ordered_gate, forgets_a_turn_that_is_destroyed_in_line) {
    ordered_gate gate;
    bool came = false;
    std::optional<turn> first(std::in_place, gate, turn_key{1});
    turn second(gate, {1});
    first->join();
    second.join();
    second.wait([&] { came = true; });
    first.reset();
    EXPECT_TRUE(came);
}

TEST(ordered_gate, lets_a_long_line_pass_that_leaves_at_once) {
    ordered_gate gate;
    std::vector<std::unique_ptr<turn>> line;
    std::size_t passed = 0;
    for (int i = 0; i < 200000; ++i) {
        line.push_back(std::make_unique<turn>(gate, turn_key{1}));
        line.back()->join();
        if (i > 0)
            line.back()->wait([&passed, self = line.back().get()] {
                ++passed;
                self->leave();
            });
    }
    line.front()->leave();
    EXPECT_EQ(passed, 199999u);
}
