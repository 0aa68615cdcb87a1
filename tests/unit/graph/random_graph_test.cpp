// SPDX-License-Identifier: Apache-2.0
// Random graphs: whatever the order of events, the result is that of the serial interpreter.
#include "unit/graph/interpreters.hpp"
#include "unit/graph/random_graph.hpp"

#include "base/error.hpp"
#include "support/cases.hpp"

#include <gtest/gtest.h>

using namespace causeway;
using namespace causeway::graph;
using namespace causeway::graph::testing;

TEST(random_graphs, give_the_serial_result_bit_for_bit_in_any_order_of_events) {
    std::size_t refused = 0, looped = 0;
    const auto graphs = support::cases(10000);
    for (std::uint64_t seed = 0; seed < graphs; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        const random_graph made(seed);
        const auto expected = run_serially(made.described);
        pipeline compiled;
        try {
            compiled = compile(made.described, made.devices, made.slack);
        } catch (const transfer_error& error) {
            ASSERT_EQ(error.code(), status::invalid_operation) << error.what();
            // With streams of no bytes even a graph without enough delay ends; and a loop that looks ahead is refused
            // also where delays elsewhere in it would do.
            if (made.periods > 0 && std::string(error.what()).find("looks") == std::string::npos) {
                ASSERT_FALSE(expected) << error.what();
            }
            ++refused;
            continue;
        }
        ASSERT_TRUE(expected) << "a graph that stops half-way was not refused";
        for (const auto& each : made.described.edges()) looped += each.delay_bytes > 0 ? 1 : 0;
        auto got = run_simulated(made.described, compiled, seed);
        ASSERT_EQ(got.complaint, "");
        ASSERT_EQ(got.delivered, *expected);
    }
    // Both kinds were among them.
    EXPECT_GT(refused * 1000, graphs);
    EXPECT_GT(looped * 20, graphs);
}
