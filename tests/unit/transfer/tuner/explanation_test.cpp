// SPDX-License-Identifier: Apache-2.0
// What the user reads about a transfer.
#include "transfer/tuner/explanation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace causeway;
using namespace causeway::transfer;
using namespace std::chrono_literals;

namespace {

explained_transfer example() {
    return {.source = "/data/input.bin",
            .target = "device buffer",
            .bytes = 64u << 20,
            .moved = 64u << 20,
            .chosen = {.strategy = "pipelined", .block_bytes = 4u << 20, .depth = 4, .io_threads = 2},
            .expected_seconds = {},
            .took = 12ms,
            .error = {}};
}

} // namespace

TEST(explanation, names_route_choice_reason_and_outcome) {
    EXPECT_EQ(explain(example()),
              "/data/input.bin -> device buffer, 64 MiB: pipelined, block 4 MiB, depth 4, I/O threads 2, by rules; "
              "expected nothing, took 12.00 ms, 5.59 GB/s");
}

TEST(explanation, says_what_the_figures_said) {
    auto told = example();
    told.chosen.why = plan::reason::measured;
    told.chosen.next_best = "mapped";
    told.chosen.next_best_seconds = 15.1e-3;
    told.expected_seconds = 11.2e-3;
    EXPECT_EQ(explain(told),
              "/data/input.bin -> device buffer, 64 MiB: pipelined, block 4 MiB, depth 4, I/O threads 2, by figures "
              "(next best: mapped, 15.10 ms); expected 11.20 ms, took 12.00 ms, 5.59 GB/s");
    told.chosen.why = plan::reason::forced;
    EXPECT_NE(explain(told).find("forced by options"), std::string::npos);
}

TEST(explanation, says_why_a_transfer_failed) {
    auto told = example();
    told.moved = 1u << 20;
    told.error = {status::io_error, 5, 0, "reading: Input/output error"};
    EXPECT_NE(explain(told).find("; failed after 1 MiB: reading: Input/output error"), std::string::npos);
}

TEST(explanation, says_of_what_moves_no_bytes_who_waited_for_what) {
    auto told = example();
    told.source = "the word at 64 B";
    told.target = "signal";
    told.bytes = told.moved = 0;
    EXPECT_EQ(explain(told), "the word at 64 B -> signal, took 12.00 ms");
    told.source = told.target = "a barrier";
    EXPECT_EQ(explain(told), "a barrier, took 12.00 ms");
}

TEST(explanation, names_both_ends_of_a_copy_between_buffers) {
    auto told = example();
    told.source = told.target = "device buffer";
    EXPECT_THAT(explain(told), testing::StartsWith("device buffer -> device buffer, "));
}
