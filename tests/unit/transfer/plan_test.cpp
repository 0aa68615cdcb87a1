// SPDX-License-Identifier: Apache-2.0
// Which strategy, block and depth a route gets.
#include "transfer/plan.hpp"

#include <gtest/gtest.h>

using namespace causeway;
using namespace causeway::transfer;

namespace {

constexpr endpoint_traits device{.kind = medium::device};
constexpr endpoint_traits mappable{.kind = medium::device, .can_map = true};
constexpr endpoint_traits file{.kind = medium::file};
constexpr endpoint_traits remote{.kind = medium::rank};
constexpr std::size_t half_cap = 128 << 20;

plan choose(const options& settings, endpoint_traits source, endpoint_traits target, std::size_t bytes,
            std::size_t largest = half_cap) {
    return planner(settings).choose({source, target, bytes, 4, largest});
}

} // namespace

TEST(planner, takes_the_same_message_for_eager_as_the_option) {
    EXPECT_EQ(option_table()[static_cast<std::size_t>(option::eager)].maximum, largest_eager);
}

TEST(planner, maps_where_device_memory_is_host_memory) {
    const options settings;
    EXPECT_EQ(choose(settings, file, mappable, 1 << 30).strategy, "mapped");
    EXPECT_TRUE(choose(settings, file, mappable, 1 << 30).map_target);
    EXPECT_TRUE(choose(settings, mappable, remote, 1 << 30).map_source);
    EXPECT_TRUE(choose(settings, mappable, mappable, 1 << 30).map_source);
    EXPECT_FALSE(choose(settings, mappable, mappable, 1 << 30).map_target);
}

TEST(planner, takes_a_direct_link_where_its_steps_take_less_than_the_way_through_the_host) {
    const options settings;
    const auto of = [](unsigned char number) {
        endpoint_traits made = device;
        made.device.is_known = true;
        made.device.uuid[0] = number;
        return made;
    };
    const auto strategy = [&](const endpoint_traits& source, const endpoint_traits& target, std::size_t bytes) {
        return planner(settings)
            .choose({.source = source,
                     .target = target,
                     .bytes = bytes,
                     .io_threads = 4,
                     .largest_block = half_cap,
                     .device_window = true})
            .strategy;
    };
    constexpr std::size_t mib = 1 << 20;
    EXPECT_NE(strategy(of(1), of(2), 2 * mib - 1), "device-window");
    EXPECT_EQ(strategy(of(1), of(2), 2 * mib), "device-window");
    EXPECT_NE(strategy(of(1), remote, mib - 1), "device-window");
    EXPECT_EQ(strategy(of(1), remote, mib), "device-window");
    EXPECT_NE(strategy(of(1), of(1), 4 * mib - 1), "device-window");
    EXPECT_EQ(strategy(of(1), of(1), 4 * mib), "device-window");
}

TEST(planner, moves_what_lies_in_windows_in_larger_blocks_than_what_is_copied_into_them) {
    const options settings;
    endpoint_traits in_window = device;
    in_window.in_window = true;
    const auto block = [&](const endpoint_traits& source, const endpoint_traits& target, std::size_t bytes) {
        const auto made = planner(settings).choose({.source = source,
                                                    .target = target,
                                                    .bytes = bytes,
                                                    .io_threads = 4,
                                                    .largest_block = half_cap,
                                                    .device_window = true});
        EXPECT_EQ(made.strategy, "device-window");
        return made.block_bytes;
    };
    constexpr std::size_t mib = 1 << 20;
    for (const auto& [source, target] : {std::pair{in_window, remote}, {remote, in_window}, {in_window, in_window}}) {
        EXPECT_EQ(block(source, target, 32 * mib), 32 * mib);
        EXPECT_EQ(block(source, target, 1024 * mib), 64 * mib);
    }
    for (const auto& [source, target] :
         {std::pair{device, remote}, {remote, device}, {in_window, device}, {device, in_window}}) {
        EXPECT_EQ(block(source, target, 32 * mib), 16 * mib);
        EXPECT_EQ(block(source, target, 1024 * mib), 32 * mib);
    }
}

TEST(planner, stages_small_transfers_whole_and_large_ones_in_blocks) {
    const options settings;
    EXPECT_EQ(choose(settings, file, device, 100).strategy, "pinned");
    EXPECT_EQ(choose(settings, file, device, 100).depth, 1u);
    const auto large = choose(settings, file, device, 1 << 30);
    EXPECT_EQ(large.strategy, "pipelined");
    EXPECT_EQ(large.block_bytes, std::size_t{4} << 20);
    EXPECT_EQ(large.io_threads, 4u);
    EXPECT_EQ(choose(settings, device, remote, 1 << 30).io_threads, 1u);
}

TEST(planner, hands_workers_more_than_they_do_at_once_unless_an_option_leaves_some_idle) {
    options settings;
    const auto written = choose(settings, device, file, 1 << 30);
    EXPECT_EQ(written.handed, 6u);
    EXPECT_EQ(written.piece_bytes, written.block_bytes);
    const auto read = choose(settings, file, device, 1 << 30);
    EXPECT_EQ(read.io_threads, 4u);
    EXPECT_LT(read.piece_bytes, read.block_bytes);
    EXPECT_GE(read.handed * (read.block_bytes / read.piece_bytes), 6u);
    settings.set("lanes", "3");
    for (const auto& limited : {choose(settings, file, device, 1 << 30), choose(settings, device, file, 1 << 30)}) {
        EXPECT_EQ(limited.handed, 3u);
        EXPECT_EQ(limited.piece_bytes, limited.block_bytes);
    }
}

TEST(planner, gives_a_file_with_one_writer_large_blocks_and_always_a_next_one) {
    const options settings;
    constexpr endpoint_traits written{.kind = medium::file, .most_io_threads = 1};
    for (const auto& from : {device, mappable}) {
        const auto made = planner(settings).choose({from, written, std::size_t{1} << 30, 1, half_cap});
        EXPECT_EQ(made.io_threads, 1u);
        EXPECT_EQ(made.handed, 2u) << "the writer does not wait for the engine";
        EXPECT_GE(made.block_bytes, std::size_t{2} << 20);
        EXPECT_EQ(made.depth, 2u) << "what lies between a device and the writer is in nobody's cache";
    }
    EXPECT_LT(planner(settings).choose({device, file, std::size_t{1} << 30, 4, half_cap}).block_bytes,
              std::size_t{4} << 20);
}

TEST(planner, reads_files_into_mapped_memory_in_blocks_that_end_together) {
    const options settings;
    for (const std::size_t bytes : {std::size_t{64} << 20, std::size_t{256} << 20, std::size_t{1} << 30})
        EXPECT_EQ(choose(settings, file, mappable, bytes).block_bytes, std::size_t{4} << 20) << bytes;
    EXPECT_LT(choose(settings, file, mappable, 4 << 20).block_bytes, std::size_t{4} << 20)
        << "several, also of few bytes";
}

TEST(planner, writes_what_hardly_gains_by_blocks_in_one_piece) {
    const options settings;
    constexpr endpoint_traits written{.kind = medium::file, .most_io_threads = 1};
    for (const auto& each : {written, file}) {
        EXPECT_EQ(choose(settings, device, each, 512 << 10).strategy, "pinned");
        EXPECT_EQ(choose(settings, device, each, 1 << 20).strategy, "pipelined");
    }
    EXPECT_EQ(choose(settings, device, written, 1 << 20).block_bytes, std::size_t{256} << 10);
    EXPECT_EQ(choose(settings, file, device, 512 << 10).strategy, "pinned");
    EXPECT_EQ(choose(settings, file, device, 1 << 20).strategy, "pipelined");
}

TEST(planner, takes_smaller_shared_blocks_for_messages_both_ways) {
    const options settings;
    route way{device, remote, std::size_t{1} << 30, 4, half_cap};
    EXPECT_EQ(planner(settings).choose(way).strategy, "shared-window");
    EXPECT_EQ(planner(settings).choose(way).block_bytes, std::size_t{4} << 20);
    way.both_ways = true;
    EXPECT_EQ(planner(settings).choose(way).block_bytes, std::size_t{2} << 20);
}

TEST(planner, maps_in_small_blocks_for_messages_both_ways) {
    const options settings;
    for (const auto& [from, to] : {std::pair{mappable, remote}, {remote, mappable}}) {
        route way{from, to, std::size_t{64} << 20, 4, half_cap};
        EXPECT_EQ(planner(settings).choose(way).strategy, "mapped");
        EXPECT_EQ(planner(settings).choose(way).block_bytes, std::size_t{64} << 20);
        way.both_ways = true;
        EXPECT_EQ(planner(settings).choose(way).strategy, "mapped");
        EXPECT_EQ(planner(settings).choose(way).block_bytes, std::size_t{1} << 20);
    }
}

TEST(planner, copies_through_caches_between_devices_of_a_node_that_are_the_host) {
    const options settings;
    auto near = remote;
    near.is_near_device = true;
    for (const auto& [from, to] : {std::pair{mappable, near}, {near, mappable}}) {
        for (const bool both_ways : {false, true}) {
            route way{from, to, std::size_t{64} << 20, 4, half_cap};
            way.both_ways = both_ways;
            const auto large = planner(settings).choose(way);
            EXPECT_EQ(large.strategy, "shared-window");
            EXPECT_TRUE(large.window);
            EXPECT_EQ(large.block_bytes, std::size_t{1} << 20);
            way.bytes = std::size_t{1} << 20;
            EXPECT_EQ(planner(settings).choose(way).strategy, "shared-window");
            way.bytes = std::size_t{512} << 10;
            EXPECT_EQ(planner(settings).choose(way).strategy, "mapped");
        }
    }
    const endpoint_traits memory{.kind = medium::host, .has_memory = true};
    EXPECT_EQ(choose(settings, memory, near, 64 << 20).strategy, "mapped");
    EXPECT_EQ(choose(settings, mappable, near, 64 << 20, 2 << 20).strategy, "mapped") << "no room for several blocks";
}

TEST(planner, obeys_what_the_options_force) {
    options settings;
    settings.set("strategy", "pipelined");
    settings.set("block", "64K");
    settings.set("depth", "3");
    const auto forced = choose(settings, file, mappable, 1 << 30);
    EXPECT_EQ(forced.strategy, "pipelined");
    EXPECT_EQ(forced.block_bytes, std::size_t{64} << 10);
    EXPECT_EQ(forced.depth, 3u);
    EXPECT_FALSE(forced.map_target);
}

TEST(planner, falls_back_when_a_forced_strategy_cannot_work) {
    options settings;
    settings.set("strategy", "mapped");
    EXPECT_EQ(choose(settings, file, device, 1 << 30).strategy, "pipelined");
}

TEST(planner, keeps_two_blocks_within_the_cap) {
    options settings;
    EXPECT_LE(choose(settings, file, device, 1 << 30, 4096).block_bytes, 4096u);
    settings.set("strategy", "pinned");
    EXPECT_LE(choose(settings, file, device, 1 << 30, 4096).block_bytes, 4096u);
    settings.set("block", "1M");
    EXPECT_LE(choose(settings, file, device, 1 << 30, 4096).block_bytes, 4096u);
}
