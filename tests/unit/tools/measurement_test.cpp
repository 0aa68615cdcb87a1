// SPDX-License-Identifier: Apache-2.0
// Rows and limits of causeway perf, from samples.
#include "perf/measurement.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>

namespace perf {
namespace {

comparison with_rule(limit_rule rule) {
    comparison made{"a-route", 1000, rule, {}};
    made.add_naive({}, {});
    made.add_ours({}, {}, {}, std::make_shared<used_plan>(used_plan{"pinned", 4096, 1, 1}));
    return made;
}

TEST(measurement, takes_the_mean_of_those_in_a_row_behind_one_that_does_not_count) {
    auto made = with_rule(limit_rule::slowest);
    int runs = 0;
    made.add_limit("copy", "", [&] { return runs++ == 0 ? 100.0 : double(runs); });
    EXPECT_DOUBLE_EQ(made.sample(made.ways.back()), 100) << "one by itself counts";
    runs = 0;
    made.in_a_row = 3;
    EXPECT_DOUBLE_EQ(made.sample(made.ways.back()), 3) << "of 2, 3 and 4";
    EXPECT_EQ(runs, 4);
}

TEST(measurement, takes_the_slowest_part_as_the_limit_of_what_overlaps) {
    auto made = with_rule(limit_rule::slowest);
    made.add_limit("copy", "", {});
    made.add_limit("message", "", {});
    const auto found = evaluate(made, {{10}, {4}, {1}, {2}});
    ASSERT_EQ(found.rows.size(), 1U);
    EXPECT_DOUBLE_EQ(found.rows[0].limit_seconds, 2);
    EXPECT_DOUBLE_EQ(found.rows[0].percent_of_limit(), 50);
    EXPECT_DOUBLE_EQ(found.rows[0].bytes_per_second(), 250);
    EXPECT_DOUBLE_EQ(found.rows[0].limit_bytes_per_second(), 500);
    EXPECT_DOUBLE_EQ(found.rows[0].naive_bytes_per_second(), 100);
}

TEST(measurement, adds_the_parts_of_the_limit_of_what_does_not_overlap) {
    auto made = with_rule(limit_rule::sum);
    made.add_limit("copy", "", {});
    made.add_limit("message", "", {});
    EXPECT_DOUBLE_EQ(evaluate(made, {{10}, {4}, {1}, {2}}).rows[0].limit_seconds, 3);
}

TEST(measurement, counts_the_fastest_of_parts_with_one_name) {
    auto made = with_rule(limit_rule::slowest);
    made.add_limit("copy", "", {});
    made.add_limit("read", "cached", {});
    made.add_limit("read", "direct", {});
    const auto found = evaluate(made, {{10}, {4}, {1}, {5}, {3}});
    EXPECT_DOUBLE_EQ(found.rows[0].limit_seconds, 3);
    EXPECT_EQ(found.parts.size(), 3U);
}

TEST(measurement, takes_the_fastest_of_several_naive_ways_and_lists_them) {
    auto made = with_rule(limit_rule::slowest);
    made.add_limit("copy", "", {});
    made.add_naive({}, {}, "by the vendor");
    const auto found = evaluate(made, {{10}, {4}, {1}, {8}});
    EXPECT_DOUBLE_EQ(found.rows[0].naive_seconds, 8);
    ASSERT_EQ(found.parts.size(), 2U);
    EXPECT_EQ(found.parts[1].how, "by the vendor");
    EXPECT_FALSE(found.parts[1].counts);
}

TEST(measurement, shows_what_does_not_count_and_leaves_it_out_of_the_limit) {
    auto made = with_rule(limit_rule::slowest);
    made.add_limit("copy", "", {});
    made.add_shown("message", "", {});
    const auto found = evaluate(made, {{10}, {4}, {1}, {9}});
    EXPECT_DOUBLE_EQ(found.rows[0].limit_seconds, 1);
    ASSERT_EQ(found.parts.size(), 2U);
    EXPECT_TRUE(found.parts[0].counts);
    EXPECT_FALSE(found.parts[1].counts);
}

TEST(measurement, takes_medians_and_keeps_quartiles) {
    auto made = with_rule(limit_rule::slowest);
    made.add_limit("copy", "", {});
    const auto found = evaluate(made, {{9, 10, 11}, {5, 1, 3}, {1, 2, 90}});
    EXPECT_DOUBLE_EQ(found.rows[0].seconds.median, 3);
    EXPECT_DOUBLE_EQ(found.rows[0].seconds.lower, 2);
    EXPECT_DOUBLE_EQ(found.rows[0].seconds.upper, 4);
    EXPECT_DOUBLE_EQ(found.rows[0].limit_seconds, 2);
    EXPECT_EQ(found.rows[0].samples, 3U);
}

TEST(measurement, refuses_times_that_give_no_figure) {
    auto made = with_rule(limit_rule::slowest);
    made.add_limit("copy", "", {});
    for (const double wrong : {0.0, -1.0, std::numeric_limits<double>::infinity()})
        EXPECT_THROW((void)evaluate(made, {{10}, {wrong}, {1}}), std::runtime_error) << wrong;
}

TEST(measurement, refuses_a_comparison_without_a_limit) {
    EXPECT_THROW((void)evaluate(with_rule(limit_rule::slowest), {{10}, {4}}), std::logic_error);
}

row timed(const char* route, std::size_t size, const char* strategy, apps::quartiles seconds) {
    return {route, strategy, size, {strategy, 4096, 1, 1}, seconds, 7, 1, 1};
}

TEST(own_choices, stand_beside_the_fastest_of_the_same_route_and_size) {
    const auto found = own_choices({timed("a", 8, "auto", {1, 2, 3}), timed("a", 8, "pinned", {1, 4, 5}),
                                    timed("a", 8, "mapped", {1, 1.6, 1.7}), timed("a", 9, "auto", {5, 6, 7}),
                                    timed("a", 9, "pinned", {7, 8, 9}), timed("b", 9, "auto", {1, 1, 1})});
    ASSERT_EQ(found.size(), 2U) << "of the last route nothing was forced";
    EXPECT_EQ(found[0].best.strategy, "mapped");
    EXPECT_DOUBLE_EQ(found[0].over_best(), 1.25);
    EXPECT_FALSE(found[0].is_as_good());
    EXPECT_EQ(found[1].own.size_bytes, 9U);
    EXPECT_DOUBLE_EQ(found[1].over_best(), 0.75);
    EXPECT_TRUE(found[1].is_as_good());
}

TEST(own_choices, are_as_good_within_a_twentieth_or_within_the_quartiles) {
    const auto is_as_good = [](double own, apps::quartiles best) {
        return own_choices({timed("a", 8, "auto", {own, own, own}), timed("a", 8, "pinned", best)}).at(0).is_as_good();
    };
    EXPECT_TRUE(is_as_good(1.05, {1, 1, 1}));
    EXPECT_FALSE(is_as_good(1.06, {1, 1, 1}));
    EXPECT_TRUE(is_as_good(1.2, {0.9, 1, 1.2}));
    EXPECT_FALSE(is_as_good(1.3, {0.9, 1, 1.2}));
}

TEST(own_choices, are_none_where_nothing_was_measured) { EXPECT_TRUE(own_choices({}).empty()); }

} // namespace
TEST(order_of_rounds, has_each_way_once_at_each_place_and_as_often_behind_each_other_one) {
    EXPECT_EQ(order_of_round(0, 3), std::vector<std::size_t>());
    EXPECT_EQ(order_of_round(1, 3), std::vector<std::size_t>{0});
    for (std::size_t count = 2; count <= 17; ++count) {
        const auto rounds = count % 2 == 0 ? count : 2 * count;
        std::map<std::pair<std::size_t, std::size_t>, std::size_t> at, behind;
        for (std::size_t round = 0; round < rounds; ++round) {
            const auto order = order_of_round(count, round);
            ASSERT_EQ(order.size(), count);
            for (std::size_t place = 0; place < count; ++place) {
                ++at[{order[place], place}];
                if (place > 0) ++behind[{order[place - 1], order[place]}];
            }
        }
        EXPECT_EQ(at.size(), count * count);
        for (const auto& [where, times] : at)
            EXPECT_EQ(times, rounds / count) << where.first << " at " << where.second << " of " << count;
        EXPECT_EQ(behind.size(), count * (count - 1));
        for (const auto& [pair, times] : behind)
            EXPECT_EQ(times, rounds / count) << pair.first << ", " << pair.second << " of " << count;
    }
}

} // namespace perf
