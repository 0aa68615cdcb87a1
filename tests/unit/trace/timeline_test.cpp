// SPDX-License-Identifier: Apache-2.0
// From records to trace events.
#include "trace/collection.hpp"
#include "trace/part.hpp"
#include "trace/part_recorder.hpp"
#include "base/error.hpp"
#include "unit/allocations.hpp"
#include "unit/trace/parts.hpp"

#include <gtest/gtest.h>

#include <map>

using namespace unit;
using namespace causeway;

TEST(timeline, has_what_was_recorded) {
    const folder where;
    fake_clock clock;
    trace::part part(where.timeline, rank_of(0), 1 << 20);
    {
        trace::part_recorder to(part, clock);
        record_transfer(to, clock, 1);
        to.waited_for(2, 1);
        record_transfer(to, clock, 2);
        to.level_is(level::transfers_running, 1);
    }
    part.end();
    trace::add_part(where.timeline, part.path());
    const auto whole = where.read();
    const auto transfers = events_of(whole, "X", "transfer");
    ASSERT_EQ(transfers.size(), 2u);
    EXPECT_EQ(transfers[0].at("name"), "device buffer -> rank 1");
    EXPECT_DOUBLE_EQ(transfers[0].at("dur"), 950);
    EXPECT_DOUBLE_EQ(transfers[0].at("args").at("waited_us"), 50);
    EXPECT_EQ(transfers[0].at("args").at("strategy"), "pinned");
    ASSERT_EQ(events_of(whole, "X", "block").size(), 2u);
    const auto from = events_of(whole, "s", "waits for"), to = events_of(whole, "f", "waits for");
    ASSERT_EQ(from.size(), 1u);
    ASSERT_EQ(to.size(), 1u);
    EXPECT_EQ(from[0].at("id"), to[0].at("id"));
    EXPECT_LE(from[0].at("ts").get<double>(), to[0].at("ts").get<double>());
    EXPECT_EQ(where.files(), 1u) << "the part is left behind";
}

TEST(timeline, has_the_limit_of_each_transfer_of_which_it_is_known) {
    const folder where;
    fake_clock clock;
    trace::part part(where.timeline, rank_of(0), 1 << 20);
    {
        trace::part_recorder to(part, clock);
        record_transfer(to, clock, 1, {}, "rank 1", 0.0005);
        record_transfer(to, clock, 2);
    }
    trace::add_part(where.timeline, part.path());
    const auto transfers = events_of(where.read(), "X", "transfer");
    ASSERT_EQ(transfers.size(), 2u);
    EXPECT_DOUBLE_EQ(transfers[0].at("args").at("limit_us"), 500);
    EXPECT_FALSE(transfers[1].at("args").contains("limit_us"));
}

TEST(timeline, tells_what_the_tuner_measures_from_transfers_of_the_program) {
    const folder where;
    fake_clock clock;
    trace::part part(where.timeline, rank_of(0), 1 << 20);
    {
        trace::part_recorder to(part, clock);
        record_transfer(to, clock, 1);
        for (const int code : {0, status::io_error}) {
            transfer_span told{.transfer = 2,
                               .source = "nothing",
                               .target = "device buffer",
                               .queued = clock.now(),
                               .submitted = clock.now(),
                               .started = clock.now(),
                               .ended = clock.now() + 1ms};
            told.chosen.strategy = transfer::measuring_strategy;
            if (code != 0) told.error = {code, 0, 0, "broken"};
            to.transfer_over(told);
        }
    }
    trace::add_part(where.timeline, part.path());
    EXPECT_EQ(events_of(where.read(), "X", "transfer").size(), 1u);
    EXPECT_TRUE(events_of(where.read(), "X", "failure").empty());
    const auto own = events_of(where.read(), "X", "measuring");
    ASSERT_EQ(own.size(), 2u);
    EXPECT_EQ(own[0].at("name"), "measuring: nothing -> device buffer");
}

TEST(timeline, has_each_level_when_it_changed) {
    const folder where;
    fake_clock clock;
    trace::part part(where.timeline, rank_of(0), 1 << 20);
    {
        trace::part_recorder to(part, clock);
        for (const std::uint64_t requests : {3, 5, 0}) {
            to.level_is(level::mpi_requests, requests);
            clock.advance(1ms);
        }
        to.level_is(level::staging_bytes, 4096);
    }
    trace::add_part(where.timeline, part.path());
    std::map<std::string, std::vector<std::pair<double, int>>> levels;
    for (const auto& each : events_of(where.read(), "C", ""))
        levels[each.at("name")].emplace_back(each.at("ts"), each.at("args").at("value"));
    ASSERT_EQ(levels.size(), 2u);
    const auto& requests = levels.at("MPI requests");
    ASSERT_EQ(requests.size(), 3u);
    const int expected[] = {3, 5, 0};
    for (std::size_t i = 0; i < requests.size(); ++i) {
        EXPECT_EQ(requests[i].second, expected[i]);
        EXPECT_NEAR(requests[i].first - requests[0].first, 1000.0 * static_cast<double>(i), 0.002);
    }
    EXPECT_EQ(levels.at("staging memory").at(0).second, 4096);
}

TEST(timeline, gives_slices_that_overlap_lanes_of_their_own) {
    const folder where;
    fake_clock clock;
    trace::part part(where.timeline, rank_of(0), 1 << 20);
    {
        trace::part_recorder to(part, clock);
        for (int i = 0; i < 4; ++i)
            to.block_over({.what = activity::read,
                           .resource = "files",
                           .bytes = 1,
                           .begin = clock.now() + i * 10us,
                           .end = clock.now() + i * 10us + (i == 0 ? 100us : 15us)});
    }
    trace::add_part(where.timeline, part.path());
    std::map<int, double> end_of_lane;
    for (const auto& each : events_of(where.read(), "X", "block")) {
        const double begin = each.at("ts");
        EXPECT_GE(begin, end_of_lane[each.at("tid")]);
        end_of_lane[each.at("tid")] = begin + each.at("dur").get<double>();
    }
    EXPECT_EQ(end_of_lane.size(), 3u);
}

TEST(timeline, needs_no_lane_for_each_transfer_that_waits) {
    const folder where;
    fake_clock clock;
    const auto enqueued = clock.now();
    trace::part part(where.timeline, rank_of(0), 1 << 20);
    {
        trace::part_recorder to(part, clock);
        for (std::uint64_t number = 1; number <= 50; ++number) {
            clock.advance(1ms);
            const auto started = clock.now();
            clock.advance(1ms);
            to.transfer_over({.transfer = number,
                              .source = "a",
                              .target = "b",
                              .queued = enqueued,
                              .submitted = enqueued,
                              .started = started,
                              .ended = clock.now()});
        }
    }
    trace::add_part(where.timeline, part.path());
    const auto whole = where.read();
    const auto transfers = events_of(whole, "X", "transfer"), waits = events_of(whole, "X", "wait");
    ASSERT_EQ(transfers.size(), 50u);
    ASSERT_EQ(waits.size(), 50u);
    for (std::size_t i = 0; i < transfers.size(); ++i) {
        EXPECT_EQ(transfers[i].at("tid"), transfers[0].at("tid"));
        EXPECT_EQ(waits[i].at("tid"), transfers[0].at("tid"));
        EXPECT_DOUBLE_EQ(waits[i].at("dur"), 1000) << "a wait shows where another transfer does not run";
        EXPECT_DOUBLE_EQ(transfers[i].at("args").at("waited_us"), 1000 + 2000 * static_cast<double>(i));
    }
}

TEST(timeline, ends_at_its_size_and_says_so) {
    const folder where;
    fake_clock clock;
    trace::part part(where.timeline, rank_of(0), trace::record::header_bytes + trace::record::chunk_bytes);
    {
        trace::part_recorder to(part, clock);
        for (std::uint64_t i = 0; i < 5000; ++i) record_transfer(to, clock, i);
    }
    trace::add_part(where.timeline, part.path());
    const auto whole = where.read();
    EXPECT_TRUE(whole.at("traceEvents").at(0).at("args").at("cut"));
    EXPECT_GT(events_of(whole, "X", "transfer").size(), 500u);
}

TEST(timeline, tells_by_what_devices_reach_each_other) {
    const folder where;
    trace::part part(where.timeline, rank_of(0), 1 << 20);
    part.set_links("is being started, which takes a while");
    part.set_links("none: no driver");
    trace::add_part(where.timeline, part.path());
    EXPECT_EQ(where.read().at("traceEvents").at(0).at("args").at("direct_links"), "none: no driver");
}

/// Now, by the clock of a device that is a second behind.
static std::uint64_t device_time(fake_clock& clock) {
    return static_cast<std::uint64_t>(clock.now().time_since_epoch().count()) - 1000000000;
}

static void show_clock(trace::part_recorder& to, fake_clock& clock) {
    to.clock_seen({.resource = "a device",
                   .device = device_time(clock),
                   .before = clock.now() - 2us,
                   .after = clock.now() + 2us});
}

TEST(timeline, shows_commands_once_by_the_clock_of_the_host) {
    const folder where;
    fake_clock clock;
    trace::part part(where.timeline, rank_of(0), 1 << 20);
    {
        trace::part_recorder to(part, clock);
        show_clock(to, clock);
        const command_span kernel{.number = 1,
                                  .queue = 5,
                                  .resource = "a device",
                                  .name = "jacobi",
                                  .queued = device_time(clock),
                                  .started = device_time(clock) + 1000,
                                  .ended = device_time(clock) + 9000,
                                  .seen = clock.now() + 20us};
        to.command_over(kernel);
        to.waited_for(1, kernel);
        to.waited_for(1, command_span{.queue = 6, .name = "kernel"}); // its queue does not profile
        record_transfer(to, clock, 1);
    }
    trace::add_part(where.timeline, part.path());
    const auto whole = where.read();
    const auto kernels = events_of(whole, "X", "command");
    ASSERT_EQ(kernels.size(), 1u);
    EXPECT_EQ(kernels[0].at("name"), "jacobi");
    const auto transfer = events_of(whole, "X", "transfer").at(0);
    EXPECT_NEAR(transfer.at("ts").get<double>() - kernels[0].at("ts").get<double>(), 50 - 1, 0.01);
    EXPECT_EQ(events_of(whole, "s", "waits for").size(), 1u);
    EXPECT_EQ(whole.at("traceEvents").at(0).at("args").at("commands_without_times"), 1);
}

TEST(timeline, finds_the_last_command_before_a_mark_by_its_times_or_by_when_it_was_seen) {
    for (const bool mark_has_times : {true, false}) {
        const folder where;
        fake_clock clock;
        trace::part part(where.timeline, rank_of(0), 1 << 20);
        {
            trace::part_recorder to(part, clock);
            show_clock(to, clock);
            for (const std::uint64_t at : {1000, 21000, 90000})
                to.command_over({.number = at,
                                 .queue = 5,
                                 .resource = "a device",
                                 .name = at == 21000 ? "before" : "another",
                                 .queued = device_time(clock),
                                 .started = device_time(clock) + at,
                                 .ended = device_time(clock) + at + 9000,
                                 .seen = clock.now() + 200us});
            const auto times = mark_has_times ? device_time(clock) + 31000 : 0;
            to.waited_for(1, command_span{.queue = 5,
                                          .resource = "a device",
                                          .name = "marker",
                                          .queued = times,
                                          .started = times,
                                          .ended = times,
                                          .seen = clock.now() + 40us});
            record_transfer(to, clock, 1);
        }
        trace::add_part(where.timeline, part.path());
        const auto whole = where.read();
        const auto arrows = events_of(whole, "s", "waits for");
        ASSERT_EQ(arrows.size(), 1u);
        const auto commands = events_of(whole, "X", "command");
        ASSERT_EQ(commands.size(), 3u);
        for (const auto& each : commands) {
            const double begin = each.at("ts"), end = begin + each.at("dur").get<double>(), leaves = arrows[0].at("ts");
            EXPECT_EQ(leaves >= begin && leaves <= end, each.at("name") == "before") << each.at("name");
        }
        EXPECT_EQ(whole.at("traceEvents").at(0).at("args").at("commands_without_times"), 0);
    }
}

TEST(timeline, is_recorded_without_memory_of_its_own_for_each_block) {
    if (!counts_allocations()) GTEST_SKIP() << "a sanitizer has its own operator new";
    const folder where;
    fake_clock clock;
    trace::part part(where.timeline, rank_of(0), 1 << 20);
    trace::part_recorder to(part, clock);
    const block_span block{.transfer = 1,
                           .what = activity::read,
                           .resource = "files",
                           .bytes = 1,
                           .begin = clock.now(),
                           .end = clock.now()};
    to.block_over(block);
    const auto before = allocations();
    for (int i = 0; i < 5000; ++i) to.block_over(block);
    EXPECT_EQ(allocations(), before);
}

TEST(timeline, that_cannot_be_made_says_why) {
    try {
        const trace::part part("/nonexistent/t.json", rank_of(0), 1 << 20);
        FAIL() << "it was made";
    } catch (const transfer_error& error) {
        EXPECT_NE(std::string(error.what()).find("/nonexistent/t.json"), std::string::npos) << error.what();
        EXPECT_NE(std::string(error.what()).find("No such file"), std::string::npos) << error.what();
    }
}
