// SPDX-License-Identifier: Apache-2.0
// Zones are dealt by the ranks' speeds, and worked on by threads.
#include "bt_mz/problem.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <new>
#include <thread>
#include <vector>

namespace {

/// If set, all other threads find no memory for large vectors.
std::thread::id rich = {};

} // namespace

// Not inlined: the compiler would take them for mismatched.
[[gnu::noinline]] void* operator new(std::size_t size) {
    if (rich != std::thread::id() && rich != std::this_thread::get_id() && size > 4096) throw std::bad_alloc();
    if (void* const made = std::malloc(size)) return made;
    throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return std::malloc(size); }
[[gnu::noinline]] void operator delete(void* made) noexcept { std::free(made); }
[[gnu::noinline]] void operator delete(void* made, std::size_t) noexcept { std::free(made); }

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

TEST(bt_mz_zones, hand_on_what_their_threads_throw) {
    const mesh dealt(class_of('S', false), 1);
    rich = std::this_thread::get_id();
    EXPECT_THROW(forcing_terms(dealt, 0, bt_mz::order::points_side_by_side), std::bad_alloc);
    rich = {};
}

} // namespace
