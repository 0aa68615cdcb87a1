// SPDX-License-Identifier: Apache-2.0
// Lines through measurements, and how they follow what is seen later.
#include "transfer/tuner/stage_model.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

using namespace causeway::transfer;

namespace {

const stage_model truth{.latency = 12e-6, .bandwidth = 8e9, .ceiling = 20e9};

stage_sample alone(const stage_model& of, double bytes) { return {bytes, of.seconds(bytes), 1}; }
stage_sample together(const stage_model& of, double bytes, double company) {
    return {bytes, std::max(of.seconds(bytes), bytes * company / of.ceiling), company};
}

} // namespace

TEST(stage_model, is_the_line_that_samples_lie_on) {
    const std::vector samples = {alone(truth, 4e3), alone(truth, 64e3), alone(truth, 4e6), together(truth, 1e6, 8)};
    const auto found = fit(samples);
    EXPECT_NEAR(found.latency, truth.latency, 1e-9);
    EXPECT_NEAR(found.bandwidth, truth.bandwidth, 1e6);
    EXPECT_NEAR(found.ceiling, truth.ceiling, 1e6);
}

TEST(stage_model, knows_operations_that_take_as_long_for_any_size) {
    const std::vector<stage_sample> samples = {{4e3, 30e-6}, {1e6, 30e-6}, {16e6, 30e-6}};
    const auto found = fit(samples);
    EXPECT_NEAR(found.seconds(64e6), 30e-6, 1e-6);
}

TEST(stage_model, stays_sane_whatever_it_is_fitted_to) {
    const std::vector<std::vector<stage_sample>> all = {
        {}, {{1e6, 1e-3}}, {{1e6, 1e-3}, {1e6, 2e-3}}, {{4e3, 1e-3}, {4e6, 1e-6}}, {{4e3, 0}, {4e6, 0}}, {{4e3, 1e-7}, {4e6, 1}}};
    for (const auto& samples : all) {
        const auto found = fit(samples);
        for (const double value : {found.latency, found.bandwidth, found.ceiling}) {
            EXPECT_TRUE(std::isfinite(value));
            EXPECT_GT(value, 0);
        }
    }
}

TEST(stage_model, follows_what_is_seen_of_large_and_small_operations) {
    stage_model known{.latency = 40e-6, .bandwidth = 2e9, .ceiling = 2e9};
    for (int i = 0; i < 100; ++i) {
        correct(known, alone(truth, 4e3));
        correct(known, alone(truth, 4e6));
        correct(known, together(truth, 1e6, 8));
    }
    EXPECT_NEAR(known.latency, truth.latency, 0.05 * truth.latency);
    EXPECT_NEAR(known.bandwidth, truth.bandwidth, 0.05 * truth.bandwidth);
    EXPECT_NEAR(known.ceiling, truth.ceiling, 0.05 * truth.ceiling);
}

TEST(stage_model, leaves_the_bandwidth_alone_where_only_latency_shows) {
    auto known = truth;
    auto slower = truth;
    slower.latency *= 3;
    for (int i = 0; i < 50; ++i) correct(known, alone(slower, 100));
    EXPECT_NEAR(known.latency, slower.latency, 0.05 * slower.latency);
    EXPECT_NEAR(known.bandwidth, truth.bandwidth, 0.05 * truth.bandwidth);
}

TEST(stage_model, believes_no_single_sample) {
    for (const double factor : {1e6, 1e-6}) {
        auto known = truth;
        auto sample = alone(truth, 1e6);
        sample.seconds *= factor;
        correct(known, sample);
        EXPECT_LT(std::abs(std::log(known.seconds(1e6) / truth.seconds(1e6))), std::log(1.25));
        sample.company = 4;
        correct(known, sample);
        EXPECT_LT(std::abs(std::log(known.ceiling / truth.ceiling)), std::log(1.25));
    }
}

TEST(stage_model, is_not_moved_by_samples_without_sense) {
    auto known = truth;
    for (const auto& sample : {stage_sample{0, 1}, stage_sample{1e6, 0}, stage_sample{1e6, -1}, stage_sample{1e6, NAN}}) correct(known, sample);
    EXPECT_EQ(known.latency, truth.latency);
    EXPECT_EQ(known.bandwidth, truth.bandwidth);
}
