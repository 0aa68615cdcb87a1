// SPDX-License-Identifier: Apache-2.0
// Rows and limits of causeway perf, from samples.
#include "perf/measurement.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <stdexcept>

namespace perf {
namespace {

comparison with_rule(limit_rule rule) {
    comparison made{"a-route", 1000, rule, {}};
    made.add_naive({}, {});
    made.add_ours({}, {}, {}, std::make_shared<used_plan>(used_plan{"pinned", 4096, 1, 1}));
    return made;
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

} // namespace
} // namespace perf
