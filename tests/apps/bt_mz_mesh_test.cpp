// SPDX-License-Identifier: Apache-2.0
// Zones are dealt by the ranks' speeds.
#include "bt_mz/problem.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace {

using bt_mz::class_of;
using bt_mz::mesh;

TEST(bt_mz_mesh, deals_loads_in_proportion_to_speeds) {
    for (const char name : {'A', 'B', 'C'}) {
        const mesh dealt(class_of(name, false), std::vector<double>{1, 3});
        const double slow = dealt.load_of(0), fast = dealt.load_of(1);
        EXPECT_NEAR(slow / (slow + fast), 0.25, 0.02) << "class " << name;
    }
}

TEST(bt_mz_mesh, deals_equal_loads_to_ranks_of_equal_speed) {
    EXPECT_LT(mesh(class_of('C', false), 2).imbalance(), 1.02);
}

TEST(bt_mz_mesh, deals_as_another_where_each_zone_has_the_same_owner) {
    const mesh dealt(class_of('W', false), 4);
    EXPECT_TRUE(dealt.deals_as(mesh(class_of('W', false), std::vector<double>{2, 2.01, 2, 2})));
    EXPECT_FALSE(dealt.deals_as(mesh(class_of('W', false), std::vector<double>{1, 3, 1, 1})));
}

TEST(bt_mz_mesh, leaves_each_rank_a_zone_however_slow_it_is) {
    for (const auto& speeds : {std::vector<double>{1, 3, 1, 1}, std::vector<double>{1, 1000, 1, 1}}) {
        const mesh dealt(class_of('S', false), speeds);
        for (int rank = 0; rank < dealt.ranks(); ++rank) EXPECT_EQ(dealt.zones_of(rank).size(), 1u) << "rank " << rank;
    }
    const mesh dealt(class_of('W', false), std::vector<double>{1, 1000, 1});
    for (int rank = 0; rank < dealt.ranks(); ++rank) EXPECT_GE(dealt.zones_of(rank).size(), 1u) << "rank " << rank;
}

} // namespace
