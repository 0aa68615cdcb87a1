// SPDX-License-Identifier: Apache-2.0
// What is put away is used again, nothing moves, and one element takes nothing from the heap.
#include "base/reused_list.hpp"
#include "unit/allocations.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using causeway::reused_list;

namespace {

/// Cannot be moved, as what others point to.
struct element {
    explicit element(int begun) : number(begun) {}
    element(const element&) = delete;
    element& operator=(const element&) = delete;
    int number;
};

} // namespace

TEST(reused_list, of_one_element_at_a_time_takes_nothing_from_the_heap) {
    const auto before = unit::allocations();
    reused_list<element> list;
    for (int i = 0; i < 100; ++i) {
        list.add(i);
        list.put_away(list.begin());
    }
    EXPECT_TRUE(list.empty());
    if (!unit::counts_allocations()) GTEST_SKIP() << "the sanitizer has its own allocator";
    EXPECT_EQ(unit::allocations(), before);
}

TEST(reused_list, uses_what_was_put_away_again_as_it_was) {
    reused_list<element> list;
    auto* const first = &list.add(1);
    auto* const second = &list.add(2);
    EXPECT_EQ(&*list.put_away(list.begin()), second) << "the one behind it";
    EXPECT_EQ(list.size(), 1u);
    EXPECT_EQ(&list.front(), second);
    EXPECT_EQ(&list.add(3), first);
    EXPECT_EQ(first->number, 1) << "whoever adds it says what is new";
    EXPECT_EQ(&list.back(), first);
}

TEST(reused_list, keeps_the_order_and_the_addresses_of_the_rest) {
    reused_list<element> list;
    auto* const first = &list.add(1);
    list.add(2);
    auto* const third = &list.add(3);
    EXPECT_EQ(list.put_away(std::next(list.begin()))->number, 3);
    EXPECT_EQ(&list.front(), first);
    EXPECT_EQ(&list.back(), third);
    EXPECT_EQ(list.put_away(std::next(list.begin())), list.end());
    EXPECT_EQ(list.size(), 1u);
}
