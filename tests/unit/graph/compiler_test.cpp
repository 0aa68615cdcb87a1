// SPDX-License-Identifier: Apache-2.0
// What the compiler refuses, and how: stages, buffers, copies, memory; what it says of a graph.
#include "base/error.hpp"
#include "graph/pipeline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>

using namespace causeway;
using namespace causeway::graph;
using testing::AllOf;
using testing::HasSubstr;

namespace {

constexpr std::size_t token = 1024;

/// Builds descriptions in few words: all tokens have one size unless an edge says otherwise.
class sketch {
  public:
    sketch& input(const std::string& name, std::uint64_t tokens = 4, std::size_t size = token, bool direct = true) {
        return add({.name = name,
                    .kind = node_kind::input,
                    .total_bytes = tokens * size,
                    .token_bytes = size,
                    .direct = direct});
    }
    sketch& output(const std::string& name, std::uint64_t tokens = 4, std::size_t size = token, bool direct = true) {
        return add({.name = name,
                    .kind = node_kind::output,
                    .total_bytes = tokens * size,
                    .token_bytes = size,
                    .direct = direct});
    }
    sketch& kernel(const std::string& name, memory_space where = 0) {
        return add({.name = name, .kind = node_kind::kernel, .where = where});
    }
    sketch& function(const std::string& name) { return add({.name = name, .kind = node_kind::function}); }
    sketch& connect(const std::string& source, const std::string& target, edge rest = {}) {
        rest.source = described.find(source);
        rest.target = described.find(target);
        if (rest.produced_bytes == 0) rest.produced_bytes = token;
        if (rest.consumed_bytes == 0) rest.consumed_bytes = token;
        described.connect(rest);
        return *this;
    }

    [[nodiscard]] pipeline compiled(std::size_t slack = 0) const { return graph::compile(described, devices, slack); }
    [[nodiscard]] std::string explained() const { return explain(described, compiled(), devices); }

    description described;
    std::vector<device_limits> devices{{.name = "first"}, {.name = "second"}};

  private:
    sketch& add(node added) {
        described.add(std::move(added));
        return *this;
    }
};

std::string refusal(const std::function<void()>& action, int code = status::invalid_value) {
    try {
        action();
    } catch (const transfer_error& error) {
        EXPECT_EQ(error.code(), code) << error.what();
        return error.what();
    }
    ADD_FAILURE() << "not refused";
    return "";
}

const channel& ring_between(const sketch& of, const pipeline& compiled, const std::string& source,
                            const std::string& target) {
    for (const auto& ring : compiled.channels)
        for (const auto& reader : ring.readers)
            if (name_of(of.described, compiled.actors[ring.writer]) == source &&
                name_of(of.described, compiled.actors[reader.actor]) == target)
                return ring;
    throw std::runtime_error("nothing between " + source + " and " + target);
}

std::size_t stage_of(const sketch& of, const pipeline& compiled, const std::string& name) {
    for (const auto& each : compiled.actors)
        if (name_of(of.described, each) == name) return each.stage;
    throw std::runtime_error("no actor " + name);
}

sketch chain() {
    sketch made;
    made.input("i").kernel("a").kernel("b").output("o").connect("i", "a").connect("a", "b").connect("b", "o");
    return made;
}

} // namespace

TEST(graph_compiler, puts_copies_and_kernels_into_three_stages) {
    const auto made = chain();
    const auto compiled = made.compiled();
    EXPECT_EQ(compiled.stages, 3u);
    EXPECT_EQ(stage_of(made, compiled, "'i'"), 0u);
    EXPECT_EQ(stage_of(made, compiled, "'a'"), 1u);
    EXPECT_EQ(stage_of(made, compiled, "'b'"), 1u);
    EXPECT_EQ(stage_of(made, compiled, "'o'"), 2u);
    EXPECT_EQ(ring_between(made, compiled, "'i'", "'a'").buffers, 2u);
    EXPECT_EQ(ring_between(made, compiled, "'a'", "'b'").buffers, 1u) << "one queue does both, one after the other";
    EXPECT_EQ(ring_between(made, compiled, "'b'", "'o'").buffers, 2u);
}

TEST(graph_compiler, gives_an_edge_that_skips_stages_a_buffer_for_each) {
    sketch made;
    made.input("i").kernel("a").kernel("b", 1).kernel("join").output("o");
    made.connect("i", "a").connect("a", "b").connect("b", "join").connect("a", "join", {.target_position = 1});
    made.connect("join", "o");
    const auto compiled = made.compiled();
    // a, copy out, copy in, b, copy out, copy in, join
    EXPECT_EQ(stage_of(made, compiled, "'join'") - stage_of(made, compiled, "'a'"), 6u);
    EXPECT_EQ(ring_between(made, compiled, "'a'", "'join'").buffers, 12u)
        << "7, made a count with small common multiples";
}

TEST(graph_compiler, needs_one_buffer_and_one_stage_where_one_queue_does_all) {
    auto made = chain();
    made.devices[0].overlap = false;
    const auto compiled = made.compiled();
    EXPECT_EQ(compiled.stages, 1u);
    EXPECT_EQ(compiled.lanes.size(), 1u);
    for (const auto& ring : compiled.channels) EXPECT_EQ(ring.buffers, 1u);
}

TEST(graph_compiler, copies_once_what_several_nodes_of_a_device_read) {
    sketch made;
    made.input("i", 4, token, false).kernel("a").kernel("b").kernel("c", 1).output("o").output("p").output("q");
    made.connect("i", "a").connect("i", "b").connect("i", "c").connect("a", "o").connect("b", "p").connect("c", "q");
    const auto compiled = made.compiled();
    std::size_t copies = 0;
    for (const auto& each : compiled.actors) copies += each.kind == actor_kind::copy_in ? 1 : 0;
    EXPECT_EQ(copies, 2u) << "one for each device";
    EXPECT_EQ(ring_between(made, compiled, "copy in of 'i'", "'a'").readers.size(), 2u);
}

TEST(graph_compiler, carries_bytes_between_devices_through_the_host) {
    sketch made;
    made.input("i").kernel("a").kernel("b", 1).output("o").connect("i", "a").connect("a", "b").connect("b", "o");
    const auto compiled = made.compiled();
    EXPECT_EQ(ring_between(made, compiled, "copy out of 'a'", "copy in of 'a'").where, host);
    EXPECT_EQ(ring_between(made, compiled, "copy in of 'a'", "'b'").where, 1u);
}

TEST(graph_compiler, counts_firings_from_rates) {
    sketch made;
    made.input("i", 6).kernel("a").output("o", 4);
    made.connect("i", "a", {.consumed_bytes = 3 * token}).connect("a", "o", {.produced_bytes = 2 * token});
    const auto compiled = made.compiled();
    for (const auto& each : compiled.actors) {
        const auto name = name_of(made.described, each);
        EXPECT_EQ(each.repetitions, name == "'i'" ? 3u : name == "'a'" ? 1u : 2u);
    }
    EXPECT_EQ(compiled.periods, std::vector<std::uint64_t>{2});
}

TEST(graph_compiler, refuses_rates_that_do_not_fit_naming_nodes_and_numbers) {
    sketch made;
    made.input("i").kernel("a").kernel("b").kernel("join").output("o");
    made.connect("i", "a").connect("i", "b").connect("a", "join");
    made.connect("b", "join", {.target_position = 1, .produced_bytes = 3 * token, .consumed_bytes = 2 * token});
    made.connect("join", "o");
    EXPECT_THAT(refusal([&] { (void)made.compiled(); }),
                AllOf(HasSubstr("'b' -> 'join'"), HasSubstr("3 KiB"), HasSubstr("2 KiB"), HasSubstr("fires 1 times")));
}

TEST(graph_compiler, refuses_streams_of_different_length) {
    sketch made;
    made.input("i", 5).kernel("a").output("o", 4).connect("i", "a").connect("a", "o");
    EXPECT_THAT(refusal([&] { (void)made.compiled(); }),
                AllOf(HasSubstr("'o' lasts for 4 periods"), HasSubstr("'i' for 5")));
}

TEST(graph_compiler, refuses_a_stream_that_ends_within_a_period) {
    sketch made;
    made.input("i", 5).kernel("a").output("o", 2);
    made.connect("i", "a", {.consumed_bytes = 2 * token}).connect("a", "o");
    EXPECT_THAT(refusal([&] { (void)made.compiled(); }),
                HasSubstr("'i' has 5 tokens, but the graph takes them 2 at a time"));
}

TEST(graph_compiler, refuses_a_loop_without_delay_naming_it) {
    sketch made;
    made.input("i").kernel("a").kernel("b").output("o").connect("i", "a").connect("a", "b").connect("b", "o");
    made.connect("b", "a", {.source_position = 1, .target_position = 1});
    EXPECT_THAT(refusal([&] { (void)made.compiled(); }, status::invalid_operation),
                AllOf(HasSubstr("'a' waits for 1 KiB more from 'b'"), HasSubstr("'b' waits for 1 KiB more from 'a'"),
                      HasSubstr("larger delay")));
}

TEST(graph_compiler, accepts_a_loop_with_delay_and_state_in_a_loop_of_one) {
    sketch made;
    made.input("i").kernel("a").kernel("b").output("o").connect("i", "a").connect("a", "b").connect("b", "o");
    made.connect("b", "a", {.source_position = 1, .target_position = 1, .delay_bytes = token});
    made.connect("b", "b", {.source_position = 2, .target_position = 1, .delay_bytes = token});
    const auto compiled = made.compiled();
    EXPECT_EQ(stage_of(made, compiled, "'a'"), stage_of(made, compiled, "'b'"));
    EXPECT_EQ(ring_between(made, compiled, "'b'", "'b'").buffers, 2u);
}

TEST(graph_compiler, holds_what_a_window_looks_back_and_waits_for_what_it_looks_ahead) {
    sketch made;
    made.input("i")
        .kernel("a")
        .output("o")
        .connect("i", "a", {.before_bytes = 16, .after_bytes = 16})
        .connect("a", "o");
    const auto compiled = made.compiled();
    EXPECT_EQ(stage_of(made, compiled, "'a'"), 2u) << "one for overlap, one for the token ahead";
    EXPECT_EQ(ring_between(made, compiled, "'i'", "'a'").buffers, 4u) << "three, and one for what is behind";
}

TEST(graph_compiler, refuses_what_memory_does_not_hold) {
    auto made = chain();
    made.devices[0].memory_bytes = 4 * token;
    EXPECT_THAT(
        refusal([&] { (void)made.compiled(); }, status::mem_object_allocation_failure),
        AllOf(HasSubstr("needs 5 KiB on device 'first', which has 4 KiB"), HasSubstr("2 x 1 KiB, for 'i' -> 'a'")));
    made.devices[0] = {.name = "first", .buffer_bytes = 1000};
    EXPECT_THAT(refusal([&] { (void)made.compiled(); }, status::mem_object_allocation_failure),
                AllOf(HasSubstr("1 KiB for"), HasSubstr("1000 B")));
}

TEST(graph_description, refuses_what_makes_no_sense_naming_it) {
    sketch made;
    made.input("i").kernel("a").output("o");
    EXPECT_THAT(refusal([&] { made.kernel("a"); }), HasSubstr("two nodes with the name 'a'"));
    EXPECT_THAT(refusal([&] { made.connect("i", "b"); }), HasSubstr("no node has the name 'b'"));
    EXPECT_THAT(refusal([&] { made.connect("o", "a"); }), HasSubstr("'o' is an output stream"));
    EXPECT_THAT(refusal([&] { made.connect("a", "i"); }), HasSubstr("'i' is an input stream"));
    EXPECT_THAT(refusal([&] { made.connect("i", "a", {.produced_bytes = 5}); }),
                AllOf(HasSubstr("5 B"), HasSubstr("1 KiB")));
    EXPECT_THAT(
        refusal([&] { made.connect("i", "a", {.before_bytes = std::size_t{1} << 62}); }),
        AllOf(HasSubstr("'i' -> 'a'"), HasSubstr("4194304 TiB are more than a token, window or delay can have")));
    made.connect("i", "a");
    EXPECT_THAT(refusal([&] { made.connect("i", "a"); }), HasSubstr("input 0 of 'a' is connected already, with 'i'"));
    EXPECT_THAT(refusal([&] { made.described.check_complete(); }), HasSubstr("'o' is connected with nothing"));
    made.connect("a", "o", {.source_position = 1});
    EXPECT_THAT(refusal([&] { made.described.check_complete(); }),
                HasSubstr("'a' has an output at position 1, but none at position 0"));
    // A stream without a token size has that of its edges.
    made.described.add({.name = "j", .kind = node_kind::input, .total_bytes = 10});
    EXPECT_THAT(refusal([&] { made.kernel("z").connect("j", "z", {.produced_bytes = 3}); }),
                HasSubstr("the stream 'j' of 10 B does not divide into tokens of 3 B"));
}

TEST(graph_description, is_the_same_after_a_refused_edge) {
    description made;
    (void)made.add({.name = "i", .kind = node_kind::input, .total_bytes = 90});
    (void)made.add({.name = "o", .kind = node_kind::output, .total_bytes = 44});
    const auto connect = [&](std::size_t token) {
        made.connect({.source = 0, .target = 1, .produced_bytes = token, .consumed_bytes = token});
    };
    EXPECT_THAT(refusal([&] { connect(45); }), HasSubstr("44 B does not divide into tokens of 45 B"));
    connect(2);
    EXPECT_EQ(made.nodes()[0].token_bytes, 2u);
}

TEST(graph_report, says_stages_buffers_and_bytes) {
    EXPECT_EQ(chain().explained(), "3 stages\n"
                                   "  stage 0: 'i', 1 x per period, copies to device 'first'\n"
                                   "  stage 1: 'a', 1 x per period, device 'first'\n"
                                   "  stage 1: 'b', 1 x per period, device 'first'\n"
                                   "  stage 2: 'o', 1 x per period, copies from device 'first'\n"
                                   "buffers\n"
                                   "  'i' -> 'a': 2 x 1 KiB on device 'first'\n"
                                   "  'a' -> 'b': 1 x 1 KiB on device 'first'\n"
                                   "  'b' -> 'o': 2 x 1 KiB on device 'first'\n"
                                   "  together 5 KiB on device 'first'\n");
}

TEST(graph_report, predicts_the_time_of_a_period_from_the_slowest_lane) {
    const auto made = chain();
    const auto compiled = made.compiled();
    std::vector<double> seconds;
    for (const auto& each : compiled.actors) seconds.push_back(each.kind == actor_kind::kernel ? 30e-6 : 50e-6);
    EXPECT_THAT(explain(made.described, compiled, made.devices, seconds),
                HasSubstr("predicted time of a period: 60.0 us, set by device 'first'\n"));
    const auto unknown = explain(made.described, compiled, made.devices, {}, seconds);
    EXPECT_THAT(unknown, AllOf(HasSubstr("predicted time of a period: 60.0 us, set by device 'first', by the bytes"),
                               testing::Not(HasSubstr(", 30.0 us\n"))));
}

TEST(graph_report, draws_the_graph_for_graphviz) {
    const auto made = chain();
    const auto drawn = to_dot(made.described, made.compiled(), made.devices);
    EXPECT_THAT(drawn, AllOf(HasSubstr("digraph stream_graph {"), HasSubstr("a0 -> a1 [label=\"2 x 1 KiB\"]"),
                             HasSubstr("label=\"'a'\\nstage 1, device 'first'\"")));
}

// Prints times instead of judging them: the machine is not ours alone.
TEST(graph_compiler, says_how_long_its_analysis_takes) {
    const auto best = [](const auto& action) {
        auto shortest = std::chrono::nanoseconds::max();
        for (int i = 0; i < 20; ++i) {
            const auto begin = std::chrono::steady_clock::now();
            action();
            shortest = std::min(shortest, std::chrono::steady_clock::now() - begin);
        }
        return static_cast<double>(shortest.count()) / 1000;
    };
    const auto small = chain();
    const double small_time = best([&] { (void)small.compiled(); });
    sketch large;
    large.input("0");
    for (int i = 1; i <= 998; ++i) {
        large.kernel(std::to_string(i), static_cast<memory_space>(i / 8 % 2))
            .connect(std::to_string(i - 1), std::to_string(i));
        if (i % 3 == 0) large.connect(std::to_string(i - 2), std::to_string(i), {.target_position = 1});
    }
    large.output("o").connect("998", "o");
    const double large_time = best([&] { (void)large.compiled(); });
    std::printf("analysis: %.1f us for 4 nodes, %.2f ms for 1,000 nodes in %zu stages\n", small_time, large_time / 1000,
                large.compiled().stages);
    EXPECT_GT(large.compiled().actors.size(), 1000u);
}
