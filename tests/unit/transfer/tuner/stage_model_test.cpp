// SPDX-License-Identifier: Apache-2.0
// Curves through measurements, and how they follow what is seen later.
#include "transfer/tuner/stage_model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

using namespace causeway::transfer;

namespace {

const auto truth = stage_model::line(12e-6, 8e9, 20e9, 2e-6);

stage_sample alone(const stage_model& of, double bytes) { return {bytes, of.seconds(bytes), 1}; }
stage_sample together(const stage_model& of, double bytes, double company) {
    return {bytes, std::max(of.seconds(bytes), of.share(bytes) * company), company};
}

void expect_sane(const stage_model& model) {
    EXPECT_TRUE(std::isfinite(model.ceiling) && model.ceiling > 0);
    EXPECT_TRUE(std::isfinite(model.gap) && model.gap > 0);
    EXPECT_TRUE(std::isfinite(model.bandwidth()) && model.bandwidth() > 0);
    double before = 0;
    for (const double each : model.seconds_at) {
        EXPECT_TRUE(std::isfinite(each) && each > 0);
        EXPECT_GE(each, before);
        before = each;
    }
}

} // namespace

TEST(stage_model, takes_of_several_blocks_at_once_what_they_show_in_company) {
    std::vector<sample_pair> one_by_one(4), several(4);
    for (std::size_t i = 0; i < 4; ++i) {
        one_by_one[i].add({1 << 20, 40e-6 + 1e-6 * static_cast<double>(i), 1});
        several[i].add({1 << 20, 600e-6, 1}); // waited for the engine
        several[i].add({1 << 20, 100e-6 + 1e-6 * static_cast<double>(i), 3});
    }
    std::vector<stage_sample> found;
    add_typical(one_by_one, false, found);
    add_typical(several, true, found);
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0].seconds, 41e-6);
    EXPECT_EQ(found[1].seconds, 101e-6);
    // One I/O thread has no company, and several blocks of it show nothing of their own.
    add_typical(one_by_one, true, found);
    EXPECT_EQ(found.size(), 2u);
}

TEST(stage_model, goes_through_the_samples_and_straight_on_beyond_them) {
    const std::vector samples = {alone(truth, 16 << 10), alone(truth, 1 << 20), alone(truth, 4 << 20),
                                 together(truth, 1e6, 8), together(truth, 1e5, 8)};
    const auto found = fit(operation::read, samples);
    for (const double bytes : {4e3, 16e3, 1e5, 1e6, 4e6, 16e6, 256e6})
        EXPECT_NEAR(found.seconds(bytes), truth.seconds(bytes), 1e-9 + 1e-6 * truth.seconds(bytes)) << bytes;
    EXPECT_NEAR(found.bandwidth(), 8e9, 1e6);
    EXPECT_NEAR(found.ceiling, 20e9, 1e6);
    EXPECT_NEAR(found.gap, 2e-6, 1e-9);
}

TEST(stage_model, lets_operations_follow_one_another_where_none_was_seen_in_company) {
    const std::vector samples = {alone(truth, 16 << 10), alone(truth, 4 << 20)};
    for (const double bytes : {64e3, 1e6, 4e6})
        EXPECT_NEAR(fit(operation::read, samples).share(bytes), truth.seconds(bytes), 1e-8);
}

TEST(stage_model, knows_writers_that_hinder_one_another_and_nobody_else_who_does) {
    const stage_sample slow{4e6, 8 * 3 * truth.seconds(4e6), 8}, slow_and_small{64e3, 8 * 3 * truth.seconds(64e3), 8};
    const std::vector samples = {alone(truth, 16 << 10), alone(truth, 4 << 20), slow, slow_and_small};
    EXPECT_GT(fit(operation::write, samples).share(4e6), 2 * truth.seconds(4e6));
    EXPECT_LE(fit(operation::read, samples).share(4e6), 1.001 * truth.seconds(4e6));
}

TEST(stage_model, takes_as_long_for_less_than_its_smallest_size) {
    EXPECT_EQ(truth.seconds(1), truth.latency());
    EXPECT_EQ(truth.seconds(0), truth.latency());
}

TEST(stage_model, knows_operations_that_take_as_long_for_any_size) {
    const std::vector<stage_sample> samples = {{4e3, 31e-6}, {1e6, 30e-6}, {16e6, 30e-6}};
    EXPECT_NEAR(fit(operation::read, samples).seconds(64e6), 30e-6, 2e-6);
}

TEST(stage_model, stays_sane_whatever_it_is_made_of) {
    const std::vector<std::vector<stage_sample>> all = {{},
                                                        {{1e6, 1e-3}},
                                                        {{1e6, 1e-3}, {1e6, 2e-3}},
                                                        {{4e3, 1e-3}, {4e6, 1e-6}},
                                                        {{4e3, 0}, {4e6, 0}},
                                                        {{4e3, 1e-7}, {4e6, 1}},
                                                        {{4e6, 1e-7}, {5e6, 1}},
                                                        {{1e6, 1e-3, 4}},
                                                        {{1e6, 1e-3, 4}, {4e6, 1e-6, 2}}};
    for (const auto& samples : all) {
        auto found = fit(operation::read, samples);
        expect_sane(found);
        for (double bytes = 1; bytes < 1e10; bytes *= 3)
            for (const double seconds : {1e-12, 1e-6, 1e3}) {
                correct(found, {bytes, seconds, 1});
                correct(found, {bytes, seconds, 3});
                expect_sane(found);
            }
    }
}

TEST(stage_model, follows_what_is_seen) {
    auto known = stage_model::line(40e-6, 2e9, 2e9);
    for (int i = 0; i < 2000; ++i) {
        for (std::size_t point = 0; point < stage_model::points; ++point)
            correct(known, alone(truth, stage_model::size_of(point)));
        correct(known, together(truth, 4e6, 8));
        correct(known, together(truth, 64e3, 8));
    }
    for (std::size_t point = 0; point < stage_model::points; ++point)
        EXPECT_NEAR(known.seconds_at[point], truth.seconds_at[point], 0.02 * truth.seconds_at[point]);
    EXPECT_NEAR(known.ceiling, truth.ceiling, 0.02 * truth.ceiling);
    EXPECT_NEAR(known.gap, truth.gap, 0.05 * truth.gap);
}

TEST(stage_model, learns_of_sizes_between_its_points) {
    auto known = truth;
    for (int i = 0; i < 200; ++i) correct(known, {500e3, 3 * truth.seconds(500e3), 1});
    EXPECT_NEAR(known.seconds(500e3), 3 * truth.seconds(500e3), 0.05 * truth.seconds(500e3));
    EXPECT_EQ(known.seconds_at[0], truth.seconds_at[0]) << "nothing was seen of these";
}

TEST(stage_model, believes_no_single_sample) {
    for (const double factor : {1e6, 1e-6}) {
        auto known = truth;
        auto sample = alone(truth, 1 << 20);
        sample.seconds *= factor;
        correct(known, sample);
        for (std::size_t point = 0; point < stage_model::points; ++point)
            EXPECT_LT(std::abs(std::log(known.seconds_at[point] / truth.seconds_at[point])), std::log(4)) << point;
        EXPECT_LT(std::abs(std::log(known.seconds(1 << 20) / truth.seconds(1 << 20))), std::log(1.25));
        sample.company = 4;
        correct(known, sample);
        EXPECT_LT(std::abs(std::log(known.share(1 << 20) / truth.share(1 << 20))), std::log(1.25));
    }
}

TEST(stage_model, lets_no_company_lower_a_limit_that_it_did_not_meet) {
    auto known = truth;
    correct(known, {1e4, truth.seconds(1e4), 2}); // as long as alone
    EXPECT_EQ(known.ceiling, truth.ceiling);
    correct(known, {1e6, 1e6 * 2 / 10e9, 2}); // slower than alone
    EXPECT_LT(known.ceiling, truth.ceiling);
}

TEST(stage_model, is_not_moved_by_samples_without_sense) {
    auto known = truth;
    for (const auto& sample : {stage_sample{0, 1}, stage_sample{1e6, 0}, stage_sample{1e6, -1}, stage_sample{1e6, NAN}})
        correct(known, sample);
    EXPECT_EQ(known.seconds_at, truth.seconds_at);
}
