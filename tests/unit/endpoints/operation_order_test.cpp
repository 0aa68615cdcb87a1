// SPDX-License-Identifier: Apache-2.0
// Fences among one-sided operations.
#include "endpoints/symmetric/operation_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

using causeway::endpoints::operation_order;

namespace {

struct operation {
    operation(operation_order& order, operation_order::kind kind) : turn(order, kind) { turn.join(); }
    void wait() {
        turn.wait([this] { came = true; });
    }
    operation_order::turn turn;
    bool came = false;
};

constexpr auto plain = operation_order::kind::plain, fence = operation_order::kind::fence;

TEST(operation_order, lets_operations_pass_one_another) {
    operation_order order;
    operation first(order, plain), second(order, plain);
    second.wait();
    EXPECT_TRUE(second.came);
    second.turn.leave();
    first.wait();
    EXPECT_TRUE(first.came);
}

TEST(operation_order, holds_a_fence_until_all_before_have_ended_and_those_behind_until_it_has) {
    operation_order order;
    operation before(order, plain), middle(order, fence), behind(order, plain);
    behind.wait();
    middle.wait();
    EXPECT_FALSE(behind.came || middle.came);
    before.wait();
    EXPECT_TRUE(before.came);
    before.turn.leave();
    EXPECT_TRUE(middle.came);
    EXPECT_FALSE(behind.came);
    middle.turn.leave();
    EXPECT_TRUE(behind.came);
}

TEST(operation_order, tells_the_first_failure_once) {
    operation_order order;
    operation first(order, plain), second(order, plain);
    second.turn.leave({-5, 0, 0, "one"});
    first.turn.leave({-6, 0, 0, "two"});
    EXPECT_EQ(order.take_failure().message, "one");
    EXPECT_FALSE(order.take_failure());
}

/// At every moment: no operation has come while a fence before it is in line, and no fence while anything before it is.
TEST(operation_order, holds_in_every_random_course) {
    for (unsigned seed = 1; seed <= 2000; ++seed) {
        std::mt19937 random(seed);
        operation_order order;
        std::vector<std::unique_ptr<operation>> all;
        std::vector<bool> is_fence, has_waited, has_ended;
        const std::size_t count = 3 + random() % 8;
        std::size_t ended = 0;
        while (ended < count) {
            const auto pick = random() % 3;
            if (pick == 0 && all.size() < count) {
                is_fence.push_back(random() % 3 == 0);
                all.push_back(std::make_unique<operation>(order, is_fence.back() ? fence : plain));
                has_waited.push_back(false);
                has_ended.push_back(false);
            } else if (!all.empty()) {
                const auto which = random() % all.size();
                if (has_ended[which]) continue;
                if (!has_waited[which]) {
                    all[which]->wait();
                    has_waited[which] = true;
                } else if (all[which]->came || random() % 8 == 0) { // or cancelled
                    has_ended[which] = true;
                    ++ended;
                    all[which]->turn.leave();
                }
            }
            for (std::size_t i = 0; i < all.size(); ++i) {
                if (!has_waited[i] || has_ended[i]) continue;
                bool may = true;
                for (std::size_t before = 0; before < i; ++before)
                    may = may && (has_ended[before] || !(is_fence[i] || is_fence[before]));
                ASSERT_EQ(all[i]->came, may || all[i]->came) << "seed " << seed << ", operation " << i;
                if (all[i]->came) {
                    for (std::size_t before = 0; before < i; ++before)
                        ASSERT_FALSE(is_fence[before] && !has_ended[before]) << "seed " << seed << ", operation " << i;
                }
            }
        }
    }
}

} // namespace
