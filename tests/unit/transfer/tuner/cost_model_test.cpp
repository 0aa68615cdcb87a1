// SPDX-License-Identifier: Apache-2.0
// The time that a plan is expected to take, against closed forms and common sense.
#include "transfer/tuner/cost_model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

using namespace causeway::transfer;

namespace {

constexpr double micro = 1e-6;
constexpr std::size_t kib = 1024, mib = kib * kib;

pipeline of(std::vector<pipeline::stage> stages, double set_up = 0) {
    pipeline made;
    made.set_up = set_up;
    for (const auto& each : stages) made.add(each.model, each.at_once, each.in_turn);
    return made;
}

const auto reading = stage_model::line(20 * micro, 5e9, 12e9);
const auto copying = stage_model::line(10 * micro, 20e9, 24e9);

std::size_t best_block(const pipeline& way, std::size_t bytes, unsigned depth) {
    std::size_t best = 0;
    double least = 1e9;
    for (std::size_t block = 16 * kib; block <= 16 * mib; block *= 2) {
        const auto seconds = predicted_seconds(way, bytes, block, depth);
        if (seconds < least) best = block;
        least = std::min(least, seconds);
    }
    return best;
}

} // namespace

TEST(cost_model, takes_the_sum_of_the_stages_for_one_block) {
    const auto way = of({{reading}, {copying}}, 3 * micro);
    const double expected = 3 * micro + reading.seconds(mib) + copying.seconds(mib);
    EXPECT_DOUBLE_EQ(predicted_seconds(way, mib, mib, 1), expected);
    EXPECT_DOUBLE_EQ(predicted_seconds(way, mib, 4 * mib, 4), expected);
    EXPECT_DOUBLE_EQ(predicted_seconds(way, 0, mib, 4), 3 * micro);
}

TEST(cost_model, adds_all_stages_of_all_blocks_where_only_one_block_is_in_flight) {
    const auto way = of({{reading}, {copying}});
    EXPECT_DOUBLE_EQ(predicted_seconds(way, 8 * mib, mib, 1), 8 * (reading.seconds(mib) + copying.seconds(mib)));
}

TEST(cost_model, takes_the_slowest_stage_a_fill_and_a_drain_where_blocks_overlap) {
    const auto slow_first = of({{reading}, {copying}});
    EXPECT_DOUBLE_EQ(predicted_seconds(slow_first, 16 * mib, mib, 8), 16 * reading.seconds(mib) + copying.seconds(mib));
    const auto slow_last = of({{copying}, {reading}});
    EXPECT_DOUBLE_EQ(predicted_seconds(slow_last, 16 * mib, mib, 8), copying.seconds(mib) + 16 * reading.seconds(mib));
}

TEST(cost_model, reaches_the_pace_of_one_stage_where_all_are_as_slow) {
    const auto way = of({{reading}, {reading}, {reading}});
    const double one = 64 * reading.seconds(mib);
    EXPECT_NEAR(predicted_seconds(way, 64 * mib, mib, 16), one, 0.05 * one);
    // With two blocks for three stages, one of them always stands.
    EXPECT_NEAR(predicted_seconds(way, 64 * mib, mib, 2), 1.5 * one, 0.05 * one);
}

TEST(cost_model, divides_a_stage_among_its_lanes_up_to_the_ceiling) {
    const auto unlimited = stage_model::line(20 * micro, 5e9, 1e12);
    EXPECT_DOUBLE_EQ(predicted_seconds(of({{unlimited, 4}}), 16 * mib, mib, 8), 4 * unlimited.seconds(mib));
    EXPECT_DOUBLE_EQ(predicted_seconds(of({{reading, 4}}), 16 * mib, mib, 8),
                     16 * reading.gap + 16 * mib / reading.ceiling);
    // No more I/O threads than blocks in flight.
    EXPECT_DOUBLE_EQ(predicted_seconds(of({{unlimited, 4}}), 16 * mib, mib, 2), 8 * unlimited.seconds(mib));
}

TEST(cost_model, fills_with_one_block_where_operations_are_done_in_turn) {
    const auto link = stage_model::line(0, 50e9, 50e9);
    const double one = 4 * mib / 50e9;
    EXPECT_NEAR(predicted_seconds(of({{link, 2, true}, {link, 2, true}}), 64 * mib, 4 * mib, 4), 17 * one, 1e-7);
    // Two side by side share the ceiling, and arrive together.
    EXPECT_NEAR(predicted_seconds(of({{link, 2}, {link, 2}}), 64 * mib, 4 * mib, 4), 18 * one, 1e-7);
}

TEST(cost_model, gives_each_of_several_operations_its_gap) {
    const auto busy = stage_model::line(20 * micro, 5e9, 1e12, 15 * micro);
    EXPECT_DOUBLE_EQ(predicted_seconds(of({{busy, 8}}), 1024 * kib, 4 * kib, 8), 256 * (15 * micro + 4 * kib / 1e12));
}

TEST(cost_model, lets_stages_share_one_memory) {
    auto way = of({{reading, 4}, {copying, 4}});
    const double apart = predicted_seconds(way, 64 * mib, mib, 16);
    way.one_memory = true;
    const double together = predicted_seconds(way, 64 * mib, mib, 16);
    EXPECT_DOUBLE_EQ(together, 64 * mib / reading.ceiling + 64 * mib / copying.ceiling);
    EXPECT_GT(together, apart);
}

TEST(cost_model, never_takes_less_for_more_bytes) {
    for (const unsigned io_threads : {1u, 2u, 4u})
        for (const unsigned depth : {1u, 2u, 3u, 8u}) {
            const auto way = of({{reading, io_threads}, {copying, 2}});
            double before = 0;
            for (std::size_t bytes = 1; bytes < 8 * mib; bytes += 12345) {
                const auto seconds = predicted_seconds(way, bytes, 256 * kib, depth);
                ASSERT_GE(seconds, before) << bytes << " bytes, depth " << depth << ", I/O threads " << io_threads;
                before = seconds;
            }
        }
}

TEST(cost_model, never_takes_less_with_fewer_blocks_in_flight) {
    const auto way = of({{reading, 2}, {copying, 2}});
    double before = predicted_seconds(way, 32 * mib, mib, 1);
    for (unsigned depth = 2; depth <= 16; ++depth) {
        const double seconds = predicted_seconds(way, 32 * mib, mib, depth);
        EXPECT_LE(seconds, before) << depth;
        before = seconds;
    }
}

TEST(cost_model, wants_no_smaller_blocks_where_operations_have_more_latency) {
    std::size_t before = 0;
    for (const double latency : {1e-6, 3e-6, 10e-6, 30e-6, 100e-6, 300e-6}) {
        const auto slow = stage_model::line(latency, 5e9, 12e9);
        const auto block = best_block(of({{slow}, {copying}}), 64 * mib, 4);
        EXPECT_GE(block, before) << latency;
        before = block;
    }
    EXPECT_GT(before, std::size_t{256} * kib);
}
