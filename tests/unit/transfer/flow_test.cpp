// SPDX-License-Identifier: Apache-2.0
// Moving bytes: every order in which steps can end, and the failure of every step.
#include "unit/transfer/fakes.hpp"

#include <gtest/gtest.h>

using namespace unit;

namespace {

constexpr endpoint_traits device{.kind = medium::device};
constexpr endpoint_traits mappable{.kind = medium::device, .can_map = true};
constexpr endpoint_traits file{.kind = medium::file};
constexpr endpoint_traits pipe_end{.kind = medium::stream, .ordered = true, .in_flight = 1};
constexpr endpoint_traits host{.kind = medium::host, .has_memory = true};
constexpr endpoint_traits rank_target{.kind = medium::rank, .ordered = true};

struct one_transfer {
    one_transfer(bench& on, endpoint_traits from, endpoint_traits to, std::size_t bytes, fault_plan* faults = nullptr)
        : source_bytes(bench::pattern(bytes)), target_bytes(bytes) {
        auto source_end = std::make_unique<fake_endpoint>(on.steps, source_bytes, from, source, faults);
        auto target_end = std::make_unique<fake_endpoint>(on.steps, target_bytes, to, target, faults);
        source_fake = source_end.get();
        target_fake = target_end.get();
        told = on.listener();
        work = bench::make(std::move(source_end), std::move(target_end), bytes, told);
    }
    /// The source is open, and the target is not yet.
    void open_source(bench& on) const {
        on.machine->submit(work);
        on.settle();
        ASSERT_EQ(on.steps.count(), 2u) << "both ends open";
        on.steps.finish(0);
        on.settle();
    }
    std::vector<std::byte> source_bytes, target_bytes;
    fake_endpoint::life source, target;
    fake_endpoint* source_fake = nullptr;
    fake_endpoint* target_fake = nullptr;
    std::shared_ptr<fake_listener> told;
    std::shared_ptr<command> work;

    void expect_moved_bytes_are_there() const {
        const auto moved = work->report().bytes_moved[0];
        EXPECT_TRUE(std::equal(source_bytes.begin(), source_bytes.begin() + static_cast<std::ptrdiff_t>(moved),
                               target_bytes.begin()));
    }
};

void run(bench& on, chooser& choices) {
    on.settle();
    while (on.steps.count() > 0) {
        on.steps.finish(choices.choose(on.steps.count()));
        on.settle();
    }
}

/// Blocks of 4 bytes, at most `depth` in flight.
void small_blocks(bench& on, const char* depth) {
    on.settings.set("block", "4");
    on.settings.set("depth", depth);
    on.settings.set("strategy", "pipelined");
}

struct route_case {
    const char* name;
    endpoint_traits source, target;
    const char* strategy;
    std::size_t bytes = 14;
};

class every_route : public testing::TestWithParam<route_case> {};

} // namespace

TEST(flow, leaves_alone_what_lies_behind_the_end_of_its_source) {
    for (const std::size_t end : {0, 3, 4, 6, 13}) {
        bench on;
        small_blocks(on, "2");
        one_transfer it(on, file, device, 14);
        it.source_fake->set_end(end);
        std::fill(it.target_bytes.begin(), it.target_bytes.end(), std::byte{0xee});
        on.machine->submit(it.work);
        chooser first;
        run(on, first);
        EXPECT_EQ(it.told->error.status, status::end_of_file);
        EXPECT_EQ(it.work->report().bytes_moved[0], end);
        it.expect_moved_bytes_are_there();
        for (auto i = end; i < 14; ++i) EXPECT_EQ(it.target_bytes[i], std::byte{0xee}) << i << " behind " << end;
    }
}

TEST(flow, tells_the_source_who_reads_memory_that_the_target_lends) {
    for (const std::uint64_t reader : {0, 7}) {
        bench on;
        small_blocks(on, "2");
        one_transfer it(on, device, rank_target, 14);
        it.target_fake->lend_for(reader);
        on.machine->submit(it.work);
        chooser first;
        run(on, first);
        EXPECT_EQ(it.work->report().bytes_moved[0], 14u);
        it.expect_moved_bytes_are_there();
        EXPECT_EQ(it.source.goes_to, reader == 0 ? std::vector<std::uint64_t>{} : std::vector<std::uint64_t>{reader});
    }
}

TEST_P(every_route, moves_all_bytes_in_every_order_of_completion) {
    const auto runs = explore([&](chooser& choices) {
        bench on;
        small_blocks(on, "3");
        on.settings.set("strategy", GetParam().strategy);
        one_transfer it(on, GetParam().source, GetParam().target, GetParam().bytes);
        on.machine->submit(it.work);
        run(on, choices);
        ASSERT_TRUE(it.work->complete());
        EXPECT_EQ(it.told->times, 1);
        EXPECT_FALSE(it.told->error) << it.told->error.message;
        EXPECT_EQ(it.work->report().bytes_moved[0], GetParam().bytes);
        EXPECT_EQ(it.source_bytes, it.target_bytes);
        EXPECT_EQ(it.source.closed, 1);
        EXPECT_EQ(it.target.closed, 1);
        EXPECT_EQ(on.machine->staging().held_bytes(), 0u);
    });
    EXPECT_GT(runs, 1u);
}

TEST_P(every_route, reports_the_failure_of_every_step_and_keeps_the_bytes_before_it) {
    for (int failing = 0;; ++failing) {
        bool failed_at_all = false;
        explore(
            [&](chooser& choices) {
                bench on;
                small_blocks(on, "2");
                on.settings.set("strategy", GetParam().strategy);
                fault_plan faults{failing};
                one_transfer it(on, GetParam().source, GetParam().target, std::min<std::size_t>(GetParam().bytes, 10),
                                &faults);
                on.machine->submit(it.work);
                run(on, choices);
                ASSERT_TRUE(it.work->complete());
                EXPECT_EQ(it.told->times, 1);
                failed_at_all |= faults.calls > failing;
                EXPECT_EQ(faults.calls > failing, static_cast<bool>(it.told->error));
                EXPECT_TRUE(!it.told->error || it.told->error.status == status::io_error);
                it.expect_moved_bytes_are_there();
                EXPECT_EQ(it.source.closed, it.source.opened);
                EXPECT_EQ(it.target.closed, it.target.opened);
                EXPECT_EQ(on.machine->staging().held_bytes(), 0u);
            },
            3000);
        if (!failed_at_all) break;
        ASSERT_LT(failing, 100);
    }
}

TEST_P(every_route, cancelled_after_every_number_of_steps_ends_with_the_reason_and_the_bytes_that_it_reports) {
    for (std::size_t before = 0; before < 20; ++before) {
        bench on;
        small_blocks(on, "2");
        on.settings.set("strategy", GetParam().strategy);
        one_transfer it(on, GetParam().source, GetParam().target, GetParam().bytes);
        on.machine->submit(it.work);
        on.settle();
        for (std::size_t i = 0; i < before && on.steps.count() > 0; ++i) {
            on.steps.finish(0);
            on.settle();
        }
        const bool was_over = it.work->complete();
        on.machine->cancel(it.work, {status::peer_failed, 0, 0, "why the test cancels it"});
        on.settle();
        while (on.steps.count() > 0) {
            on.steps.finish(on.steps.count() - 1);
            on.settle();
        }
        ASSERT_TRUE(it.work->complete());
        EXPECT_EQ(it.told->times, 1);
        EXPECT_FALSE(was_over && it.told->error);
        EXPECT_TRUE(!it.told->error || it.told->error.status == status::peer_failed) << it.told->error.message;
        it.expect_moved_bytes_are_there();
        EXPECT_EQ(on.machine->staging().held_bytes(), 0u);
    }
}

INSTANTIATE_TEST_SUITE_P(flow, every_route,
                         testing::Values(route_case{"file_to_device_staged", file, device, "pipelined"},
                                         route_case{"device_to_file_staged", device, file, "pipelined"},
                                         route_case{"file_to_device_mapped", file, mappable, "mapped"},
                                         route_case{"device_to_file_mapped", mappable, file, "mapped"},
                                         route_case{"device_to_pipe", device, pipe_end, "pipelined"},
                                         route_case{"pipe_to_device", pipe_end, device, "pipelined"},
                                         route_case{"device_to_rank", device, rank_target, "pipelined"},
                                         route_case{"one_block_of_a_device_to_rank", device, rank_target, "pipelined",
                                                    4},
                                         route_case{"one_block_of_a_device_to_pipe", device, pipe_end, "pipelined", 3},
                                         route_case{"host_to_rank", host, rank_target, "auto"},
                                         route_case{"device_to_device", device, device, "pinned"}),
                         [](const auto& info) { return info.param.name; });

TEST(flow, writes_blocks_in_order_to_an_ordered_target_in_every_order_of_reads) {
    explore([](chooser& choices) {
        bench on;
        small_blocks(on, "4");
        one_transfer it(on, device, rank_target, 16);
        on.machine->submit(it.work);
        run(on, choices);
        EXPECT_EQ(it.target.write_offsets, (std::vector<std::size_t>{0, 4, 8, 12}));
    });
}

TEST(flow, keeps_no_more_blocks_in_flight_than_its_depth_and_the_endpoint_allow) {
    bench on;
    small_blocks(on, "3");
    one_transfer deep(on, device, device, 40);
    on.machine->submit(deep.work);
    chooser first;
    run(on, first);
    EXPECT_EQ(deep.source.most_in_flight, 3);
    one_transfer wide(on, file, device, 40);
    on.machine->submit(wide.work);
    chooser third;
    run(on, third);
    // Two workers read, and the third block waits for one of them.
    EXPECT_EQ(wide.source.most_in_flight, 3);
    one_transfer narrow(on, pipe_end, device, 40);
    on.machine->submit(narrow.work);
    chooser second;
    run(on, second);
    EXPECT_EQ(narrow.source.most_in_flight, 1);
}

TEST(flow, reports_the_failure_nearest_to_the_start_when_several_blocks_fail) {
    explore([](chooser& choices) {
        bench on;
        small_blocks(on, "3");
        one_transfer it(on, file, device, 16);
        it.source_fake->set_end(6);
        on.machine->submit(it.work);
        run(on, choices);
        EXPECT_EQ(it.told->error.status, status::end_of_file);
        EXPECT_EQ(it.work->report().bytes_moved[0], 6u);
        it.expect_moved_bytes_are_there();
        EXPECT_EQ(it.source.close_moved, 6u);
    });
}

TEST(flow, takes_the_size_that_the_source_finds_at_open) {
    bench on;
    small_blocks(on, "2");
    one_transfer it(on, file, device, 16);
    it.source_fake->set_size_at_open(7);
    on.machine->submit(it.work);
    chooser choices;
    run(on, choices);
    EXPECT_FALSE(it.told->error);
    EXPECT_EQ(it.work->report().bytes_moved[0], 7u);
}

TEST(flow, uses_the_smaller_block_of_the_two_ends) {
    bench on;
    small_blocks(on, "2");
    one_transfer it(on, device, rank_target, 6);
    it.target_fake->set_block_limit(2);
    on.machine->submit(it.work);
    chooser choices;
    run(on, choices);
    EXPECT_EQ(it.target.write_offsets, (std::vector<std::size_t>{0, 2, 4}));
    EXPECT_EQ(it.work->report().chosen.block_bytes, 2u);
}

TEST(flow, makes_the_first_block_as_short_as_an_end_likes_it) {
    bench on;
    small_blocks(on, "8");
    one_transfer it(on, file, device, 14);
    it.source_fake->set_first_block(1);
    on.machine->submit(it.work);
    chooser first_come;
    run(on, first_come);
    EXPECT_EQ(it.source.read_offsets, (std::vector<std::size_t>{0, 1, 5, 9, 13}));
    EXPECT_EQ(it.source_bytes, it.target_bytes);
}

TEST(flow, leaves_the_blocks_of_a_message_where_both_ranks_expect_them) {
    bench on;
    small_blocks(on, "8");
    one_transfer it(on, file, rank_target, 14);
    it.source_fake->set_first_block(1);
    on.machine->submit(it.work);
    chooser first_come;
    run(on, first_come);
    EXPECT_EQ(it.target.write_offsets, (std::vector<std::size_t>{0, 4, 8, 12}));
}

TEST(flow, reads_a_small_block_of_a_device_while_the_target_waits_for_its_turn) {
    for (const bool is_early : {true, false}) {
        bench on;
        // Without much memory others could need what it takes.
        if (!is_early) on.settings.set("staging", "8K");
        small_blocks(on, "2");
        one_transfer it(on, device, rank_target, 4);
        it.open_source(on);
        EXPECT_EQ(it.source.read_offsets.size(), is_early ? 1u : 0u);
        EXPECT_TRUE(it.target.write_offsets.empty());
        chooser choices;
        run(on, choices);
        EXPECT_FALSE(it.told->error);
        EXPECT_EQ(it.source.read_offsets.size(), 1u);
        EXPECT_EQ(it.target_bytes, it.source_bytes);
        EXPECT_EQ(on.machine->staging().held_bytes(), 0u);
    }
}

TEST(flow, reads_early_what_never_goes_through_memory_that_the_target_lends) {
    // Between ranks of a node a plan has a window whatever the size: a small message does not use it.
    for (const std::size_t largest_piece : {0, 3, 4}) {
        bench on;
        on.settings.set("block", "4");
        on.settings.set("strategy", "shared-window");
        auto target = rank_target;
        target.largest_piece = largest_piece;
        one_transfer it(on, device, target, 4);
        it.open_source(on);
        EXPECT_EQ(it.source.read_offsets.size(), largest_piece < 4 ? 0u : 1u);
        chooser choices;
        run(on, choices);
        EXPECT_FALSE(it.work->report().chosen.without_window.empty()) << "the plan had a window";
        EXPECT_EQ(it.target_bytes, it.source_bytes);
    }
}

TEST(flow, reads_again_what_was_read_early_if_the_target_lends_memory_of_its_device) {
    explore([&](chooser& choices) {
        bench on;
        small_blocks(on, "2");
        one_transfer it(on, device, rank_target, 4);
        it.target_fake->lend_for(7, true);
        on.machine->submit(it.work);
        run(on, choices);
        EXPECT_FALSE(it.told->error);
        EXPECT_EQ(it.target_bytes, it.source_bytes);
        EXPECT_EQ(on.machine->staging().held_bytes(), 0u);
    });
}

TEST(flow, reads_a_few_early_and_others_as_these_get_on) {
    for (const bool breaks_off : {false, true}) {
        constexpr std::size_t count = 9;
        bench on;
        small_blocks(on, "2");
        std::vector<std::unique_ptr<one_transfer>> all;
        for (std::size_t i = 0; i < count; ++i) {
            all.push_back(std::make_unique<one_transfer>(on, device, rank_target, 4));
            if (i % 3 == 2) all.back()->target_fake->set_block_limit(3); // smaller blocks than what is read early
            on.machine->submit(all.back()->work);
        }
        on.settle();
        ASSERT_EQ(on.steps.count(), 2 * count) << "both ends of each open";
        for (std::size_t i = 0; i < count; ++i) on.steps.finish(i); // the sources
        on.settle();
        const auto have_read = [&] {
            return std::count_if(all.begin(), all.end(),
                                 [](const auto& each) { return !each->source.read_offsets.empty(); });
        };
        EXPECT_EQ(have_read(), 4);
        on.steps.finish(0); // the first target
        on.settle();
        EXPECT_EQ(have_read(), 5);
        if (breaks_off) on.machine->cancel_all({status::cancelled, 0, 0, "cancelled"});
        chooser in_turn;
        run(on, in_turn);
        for (const auto& each : all) {
            EXPECT_EQ(each->told->times, 1);
            EXPECT_EQ(static_cast<bool>(each->told->error), breaks_off);
            each->expect_moved_bytes_are_there();
        }
        EXPECT_EQ(on.machine->staging().held_bytes(), 0u);
    }
}

TEST(flow, reads_again_what_was_read_early_if_the_target_takes_smaller_blocks) {
    explore([&](chooser& choices) {
        bench on;
        small_blocks(on, "2");
        one_transfer it(on, device, rank_target, 4);
        it.target_fake->set_block_limit(3);
        on.machine->submit(it.work);
        run(on, choices);
        EXPECT_FALSE(it.told->error);
        EXPECT_EQ(it.target_bytes, it.source_bytes);
        EXPECT_EQ(it.target.write_offsets, (std::vector<std::size_t>{0, 3}));
        EXPECT_EQ(on.machine->staging().held_bytes(), 0u);
    });
}

TEST(flow, of_no_bytes_opens_and_closes_both_ends) {
    bench on;
    one_transfer it(on, file, device, 0);
    on.machine->submit(it.work);
    chooser choices;
    run(on, choices);
    EXPECT_FALSE(it.told->error);
    EXPECT_EQ(it.source.closed, 1);
    EXPECT_EQ(it.target.closed, 1);
    EXPECT_TRUE(it.source.read_offsets.empty());
}

namespace {

/// A device that orders a read behind the gates by itself.
class ahead_source final : public endpoint, early_source {
  public:
    ahead_source(pending_steps& steps, std::vector<std::byte>& bytes) : m_steps(steps), m_bytes(bytes) {}
    [[nodiscard]] endpoint_traits traits() const override { return device; }
    [[nodiscard]] std::string name() const override { return "ahead"; }
    [[nodiscard]] abilities offers() override { return {.early = this}; }
    [[nodiscard]] bool reads_ahead() override { return true; }
    void read_ahead(std::size_t offset, block_reference block, step& done) override { read(offset, block, done); }
    void read(std::size_t offset, block_reference block, step& done) override {
        m_steps.add(done, [this, offset, block] {
            std::copy_n(m_bytes.begin() + static_cast<std::ptrdiff_t>(offset), block.size(), block.begin());
            return outcome{block.size(), {}};
        });
    }

  private:
    pending_steps& m_steps;
    std::vector<std::byte>& m_bytes;
};

struct ahead_transfer {
    explicit ahead_transfer(bench& on) {
        small_blocks(on, "2");
        auto target_end = std::make_unique<fake_endpoint>(on.steps, target_bytes, rank_target, target);
        target_fake = target_end.get();
        told = on.listener();
        std::vector<std::unique_ptr<gate>> gates;
        gates.push_back(std::make_unique<fake_gate>(entry));
        work = bench::make(std::make_unique<ahead_source>(on.steps, source_bytes), std::move(target_end),
                           source_bytes.size(), told, std::move(gates));
        on.machine->submit(work);
        on.settle();
    }
    std::vector<std::byte> source_bytes = bench::pattern(10), target_bytes = std::vector<std::byte>(10);
    fake_endpoint::life target;
    fake_endpoint* target_fake = nullptr;
    fake_gate_state entry;
    std::shared_ptr<fake_listener> told;
    std::shared_ptr<command> work;
};

} // namespace

TEST(flow, read_ahead_moves_all_bytes_whenever_the_gate_opens) {
    for (const std::size_t limit : {4, 3}) {
        explore([&](chooser& choices) {
            bench on;
            ahead_transfer it(on);
            it.target_fake->set_block_limit(limit);
            ASSERT_EQ(on.steps.count(), 1u);
            EXPECT_EQ(it.target.opened, 0);
            if (choices.choose(2) == 0) on.steps.finish(0);
            on.settle();
            EXPECT_EQ(it.target.opened, 0);
            it.entry.value = gate::state::open;
            on.clock.advance(std::chrono::seconds(1));
            run(on, choices);
            ASSERT_TRUE(it.work->complete());
            EXPECT_FALSE(it.told->error) << it.told->error.message;
            EXPECT_EQ(it.target_bytes, it.source_bytes);
            EXPECT_EQ(on.machine->staging().held_bytes(), 0u);
        });
    }
}

TEST(flow, read_ahead_of_a_command_that_never_starts_keeps_its_memory_until_the_read_ends) {
    for (const bool fails : {true, false}) {
        bench on;
        ahead_transfer it(on);
        if (fails) {
            it.entry.value = gate::state::failed;
            on.clock.advance(std::chrono::seconds(1));
        } else {
            on.machine->cancel(it.work, {status::cancelled, 0, 0, "by the test"});
        }
        on.settle();
        EXPECT_TRUE(it.work->complete());
        EXPECT_EQ(it.target.opened, 0);
        EXPECT_EQ(on.machine->staging().held_bytes(), 4u);
        it.work.reset();
        on.steps.finish(0);
        on.settle();
        on.settle();
        on.machine->step();
        EXPECT_EQ(on.machine->staging().held_bytes(), 0u);
    }
}

TEST(flow, does_not_read_ahead_with_memory_that_others_could_need) {
    bench on;
    on.settings.set("staging", "8K");
    small_blocks(on, "2");
    on.settings.set("block", "4K");
    std::vector<std::byte> bytes(5000), got(5000);
    fake_endpoint::life target;
    fake_gate_state entry;
    std::vector<std::unique_ptr<gate>> gates;
    gates.push_back(std::make_unique<fake_gate>(entry));
    on.machine->submit(bench::make(std::make_unique<ahead_source>(on.steps, bytes),
                                   std::make_unique<fake_endpoint>(on.steps, got, rank_target, target), 5000,
                                   on.listener(), std::move(gates)));
    on.settle();
    EXPECT_EQ(on.steps.count(), 0u);
    entry.value = gate::state::open;
    on.clock.advance(std::chrono::seconds(1));
    chooser choices;
    run(on, choices);
    EXPECT_EQ(got, bytes);
}

TEST(flow, gets_its_block_soon_among_larger_ones_that_hold_all_memory) {
    bench on;
    small_blocks(on, "4");
    on.settings.set("block", "4K");
    on.settings.set("staging", "16K");
    constexpr std::size_t large_bytes = 64 * 4096;
    std::vector<std::unique_ptr<one_transfer>> large;
    for (int i = 0; i < 6; ++i) {
        large.push_back(std::make_unique<one_transfer>(on, device, device, large_bytes));
        on.machine->submit(large.back()->work);
    }
    const auto blocks_of_others = [&] {
        std::size_t all = 0;
        for (const auto& each : large) all += each->target.write_offsets.size();
        return all;
    };
    // All memory is held, and two wait for their first block.
    on.settle();
    for (int i = 0; i < 40; ++i) {
        on.steps.finish(0);
        on.settle();
    }
    one_transfer small(on, device, device, 100);
    on.machine->submit(small.work);
    on.settle();
    const auto before = blocks_of_others();
    while (small.told->times == 0) {
        on.steps.finish(0);
        on.settle();
    }
    // Each of the four blocks that there are is used once more at most, for it to come and to go.
    EXPECT_LE(blocks_of_others() - before, 12u);
    small.expect_moved_bytes_are_there();
    while (on.steps.count() > 0) {
        on.steps.finish(0);
        on.settle();
        // And the large ones take turns.
        std::size_t least = 64, most = 0;
        for (const auto& each : large) {
            if (each->told->times > 0) continue;
            least = std::min(least, each->target.write_offsets.size());
            most = std::max(most, each->target.write_offsets.size());
        }
        if (least < 64) {
            EXPECT_LE(most - least, 12u);
        }
    }
    for (const auto& each : large) {
        EXPECT_EQ(each->work->report().status, status::complete);
        each->expect_moved_bytes_are_there();
    }
}
