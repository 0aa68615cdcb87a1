// SPDX-License-Identifier: Apache-2.0
// The token size that the library chooses: a multiple of the smallest that divides the stream, by a model of its time.
#include "base/error.hpp"
#include "graph/token_size.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

using namespace causeway;
using namespace causeway::graph;

namespace {

/// i -> k -> o with smallest tokens of `token` bytes, on one device.
struct chain {
    explicit chain(std::uint64_t periods, std::size_t token = 4, bool overlap = true, std::size_t output_token = 0)
        : devices{{.name = "first", .overlap = overlap}} {
        const auto in = described.add(
            {.name = "i", .kind = node_kind::input, .total_bytes = periods * token, .direct = true});
        const auto kernel = described.add({.name = "k", .kind = node_kind::kernel, .where = 0});
        const auto out = described.add({.name = "o",
                                        .kind = node_kind::output,
                                        .total_bytes = periods * token,
                                        .token_bytes = output_token,
                                        .direct = true});
        described.connect({.source = in, .target = kernel, .produced_bytes = token, .consumed_bytes = token});
        described.connect({.source = kernel, .target = out, .produced_bytes = token, .consumed_bytes = token});
        finish();
    }
    void finish() {
        balanced = balance_of(described);
        smallest = compile(described, devices);
        costs = estimated_costs(described, smallest, devices);
    }
    [[nodiscard]] std::uint64_t chosen(std::size_t most_bytes = std::size_t{16} << 20) const {
        return choose_batches(described, balanced, smallest, costs, most_bytes).front();
    }

    description described;
    std::vector<device_limits> devices;
    balance balanced;
    pipeline smallest;
    std::vector<firing_cost> costs;
};

} // namespace

TEST(token_size, is_a_multiple_that_divides_the_stream_and_next_to_the_best) {
    std::mt19937 random(1);
    for (int i = 0; i < 300; ++i) {
        const auto periods = std::uniform_int_distribution<std::uint64_t>(1, 5000)(random);
        chain made(periods, 4 * std::uniform_int_distribution<std::size_t>(1, 1000)(random), i % 2 == 0);
        for (auto& each : made.costs) each.unit_seconds *= std::uniform_real_distribution<double>(0, 20)(random);
        const auto batch = made.chosen();
        ASSERT_EQ(periods % batch, 0u);
        const auto time = predicted_seconds(made.smallest, made.costs, 0, batch);
        for (std::uint64_t other = 1; other <= periods; ++other) {
            if (periods % other != 0 || other * made.smallest.channels[0].period_bytes > (16 << 20)) continue;
            ASSERT_LE(time, 1.021 * predicted_seconds(made.smallest, made.costs, 0, other)) << other;
        }
        ASSERT_EQ(made.chosen(), batch) << "another answer to the same question";
    }
}

TEST(token_size, is_found_among_the_divisors_of_any_length) {
    // 2^60 and a prime: trying all numbers up to their square roots would take half a minute each.
    EXPECT_EQ(chain(std::uint64_t{1} << 60, 1).chosen(1 << 20) % 1024, 0u);
    EXPECT_EQ(chain((std::uint64_t{1} << 61) - 1, 1).chosen(1 << 20), 1u);
}

TEST(token_size, grows_with_the_cost_of_a_command_and_shrinks_with_that_of_a_byte) {
    chain made(1 << 20);
    const auto usual = made.chosen();
    EXPECT_GT(usual, 1u);
    EXPECT_LT(usual, 1u << 20);
    auto slow = made;
    for (auto& each : slow.costs) each.unit_seconds *= 100;
    EXPECT_LT(slow.chosen(), usual);
    auto dear = made;
    for (auto& each : dear.costs) each.fixed_seconds *= 100;
    EXPECT_GT(dear.chosen(), usual);
}

TEST(token_size, predicts_the_pipeline_bound) {
    chain made(100);
    ASSERT_EQ(made.smallest.actors.size(), 3u);
    made.costs = {{0, 3e-3}, {0, 5e-3}, {0, 2e-3}};
    EXPECT_NEAR(predicted_seconds(made.smallest, made.costs, 0, 1), 10e-3 + 99 * 5e-3, 1e-9);
    EXPECT_NEAR(predicted_seconds(made.smallest, made.costs, 0, 10), 100e-3 + 9 * 50e-3, 1e-9);
    chain plain(100, 4, false);
    plain.costs = made.costs;
    EXPECT_NEAR(predicted_seconds(plain.smallest, plain.costs, 0, 1), 100 * 10e-3, 1e-9);
}

TEST(token_size, stays_the_smallest_where_it_must) {
    EXPECT_EQ(chain(1000, 4, true, 4).chosen(), 1u) << "the output has a token size of its own";
    EXPECT_EQ(chain(7919, 1 << 20).chosen(), 1u) << "a prime number of tokens that are large enough";
    EXPECT_EQ(chain(1024, 1 << 10).chosen(1 << 10), 1u) << "no memory for more";
    EXPECT_LE(chain(1024, 1 << 10).chosen(4 << 10), 4u);
    chain looped(1000);
    looped.described.connect({.source = 1,
                              .source_position = 1,
                              .target = 1,
                              .target_position = 1,
                              .produced_bytes = 8,
                              .consumed_bytes = 8,
                              .delay_bytes = 8});
    looped.finish();
    EXPECT_EQ(looped.chosen(), 1u) << "the delay of the loop is one token";
}

TEST(token_size, multiplies_all_sizes_but_windows_and_delays) {
    chain made(12);
    made.described.edges()[0].before_bytes = 4;
    made.finish();
    const auto larger = with_batches(made.described, made.balanced, {6});
    EXPECT_EQ(larger.nodes()[0].token_bytes, 24u);
    EXPECT_EQ(larger.edges()[0].produced_bytes, 24u);
    EXPECT_EQ(larger.edges()[0].window_bytes(), 28u);
    EXPECT_EQ(larger.nodes()[1].batch, 6u);
    EXPECT_EQ(balance_of(larger).periods, std::vector<std::uint64_t>{2});
}

TEST(token_size, measured_times_take_the_place_of_estimates) {
    const chain made(1 << 12);
    const auto costs = measured_costs(made.costs, {0, 1e-3, 0}, made.smallest, {16});
    EXPECT_EQ(costs[0].unit_seconds, made.costs[0].unit_seconds);
    EXPECT_NEAR(costs[1].unit_seconds * 16 + costs[1].fixed_seconds, 1e-3, 1e-6);
}

TEST(token_size, of_a_stream_must_divide_it) {
    description described;
    const auto in = described.add({.name = "i", .kind = node_kind::input, .total_bytes = 10});
    const auto kernel = described.add({.name = "k", .kind = node_kind::kernel, .where = 0});
    EXPECT_THROW(described.connect({.source = in, .target = kernel, .produced_bytes = 4, .consumed_bytes = 4}),
                 transfer_error);
    described.connect({.source = in, .target = kernel, .produced_bytes = 5, .consumed_bytes = 5});
    EXPECT_EQ(described.nodes()[0].token_bytes, 5u);
    EXPECT_TRUE(described.nodes()[0].automatic);
}
