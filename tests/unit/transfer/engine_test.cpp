// SPDX-License-Identifier: Apache-2.0
// Commands: gates, dependencies, ends; the engine is stepped by hand.
#include "unit/transfer/fakes.hpp"

#include <gtest/gtest.h>

#include <cmath>

using namespace unit;
using namespace std::chrono_literals;

namespace {

constexpr endpoint_traits host{.kind = medium::host, .has_memory = true};

/// A command whose two steps of opening and two of closing the test ends.
struct small_command {
    explicit small_command(bench& on, int name, std::vector<std::unique_ptr<gate>> gates = {},
                           std::vector<std::shared_ptr<command>> after = {}, std::size_t size = 0)
        : bytes(size + 1), told(on.listener(name)) {
        work = bench::make(std::make_unique<fake_endpoint>(on.steps, bytes, host, source),
                           std::make_unique<fake_endpoint>(on.steps, bytes, host, target), size, told, std::move(gates),
                           std::move(after));
        on.machine->submit(work);
    }
    std::vector<std::byte> bytes;
    fake_endpoint::life source, target;
    std::shared_ptr<fake_listener> told;
    std::shared_ptr<command> work;
};

std::vector<std::unique_ptr<gate>> gates_of(std::initializer_list<fake_gate_state*> states) {
    std::vector<std::unique_ptr<gate>> gates;
    for (auto* const state : states) gates.push_back(std::make_unique<fake_gate>(*state));
    return gates;
}

void finish_all(bench& on) {
    on.settle();
    while (on.steps.count() > 0) {
        on.steps.finish(0);
        on.settle();
    }
}

} // namespace

TEST(engine, starts_a_command_when_all_its_gates_are_open) {
    bench on;
    fake_gate_state first, second;
    small_command it(on, 1, gates_of({&first, &second}));
    on.settle();
    EXPECT_EQ(it.source.enqueued, 1);
    EXPECT_EQ(it.source.opened, 0);
    first.value = gate::state::open;
    on.settle();
    EXPECT_EQ(it.source.opened, 0);
    second.value = gate::state::open;
    finish_all(on);
    EXPECT_EQ(it.source.opened, 1);
    EXPECT_TRUE(it.work->complete());
}

TEST(engine, fails_a_command_whose_gate_fails_without_starting_it) {
    bench on;
    fake_gate_state entry{gate::state::failed};
    small_command it(on, 1, gates_of({&entry}));
    finish_all(on);
    EXPECT_EQ(it.told->error.status, status::wait_list_failed);
    EXPECT_EQ(it.source.opened, 0);
    EXPECT_EQ(it.source.abandoned, 1);
    EXPECT_EQ(it.target.abandoned, 1);
}

TEST(engine, runs_a_chain_in_order) {
    bench on;
    fake_gate_state entry;
    small_command first(on, 1, gates_of({&entry}));
    small_command second(on, 2, {}, {first.work});
    small_command third(on, 3, {}, {second.work, first.work});
    finish_all(on);
    EXPECT_TRUE(on.order.empty());
    entry.value = gate::state::open;
    on.clock.advance(100ms);
    finish_all(on);
    EXPECT_EQ(on.order, (std::vector<int>{1, 2, 3}));
}

TEST(engine, starts_what_waited_for_a_command_before_it_says_that_the_step_is_over) {
    for (const bool fails : {false, true}) {
        bench on;
        fake_gate_state entry;
        small_command first(on, 1, gates_of({&entry}));
        std::vector<std::unique_ptr<small_command>> next;
        for (int i = 0; i < 3; ++i)
            next.push_back(std::make_unique<small_command>(on, 2 + i, gates_of({}), std::vector{first.work}));
        int seen = 0;
        first.told->at_step_over = [&] {
            EXPECT_EQ(first.told->times, 1);
            for (const auto& each : next) seen += fails ? each->told->times : each->source.opened;
        };
        on.settle();
        EXPECT_EQ(first.told->steps_over, 0);
        entry.value = fails ? gate::state::failed : gate::state::open;
        finish_all(on);
        EXPECT_EQ(seen, 3);
        EXPECT_EQ(first.told->steps_over, 1);
        for (const auto& each : next) EXPECT_EQ(each->told->steps_over, 1);
    }
}

TEST(engine, starts_a_few_of_many_that_waited_for_a_command_at_once_and_the_others_in_turn) {
    bench on;
    small_command first(on, 0);
    std::vector<std::unique_ptr<small_command>> next;
    for (int i = 0; i < 64; ++i)
        next.push_back(std::make_unique<small_command>(on, 1, gates_of({}), std::vector{first.work}));
    const auto started = [&] {
        return std::count_if(next.begin(), next.end(), [](const auto& each) { return each->source.opened > 0; });
    };
    on.settle();
    long at_its_end = 0;
    first.told->at_step_over = [&] { at_its_end = started(); };
    while (first.told->times == 0) {
        on.steps.finish(0);
        (void)on.machine->step();
    }
    EXPECT_GE(at_its_end, 1);
    EXPECT_LE(at_its_end, 8);
    on.settle();
    EXPECT_EQ(started(), 64);
    finish_all(on);
}

namespace {

/// Everything is over as soon as it is asked for.
struct at_once final : endpoint {
    [[nodiscard]] endpoint_traits traits() const override { return {.kind = medium::file}; }
    [[nodiscard]] std::string name() const override { return "at once"; }
};

std::shared_ptr<command> command_at_once(std::size_t bytes, std::shared_ptr<completion_listener> told,
                                         std::vector<std::unique_ptr<gate>> gates = {},
                                         std::vector<std::shared_ptr<command>> after = {}) {
    return bench::make(std::make_unique<at_once>(), std::make_unique<at_once>(), bytes, std::move(told),
                       std::move(gates), std::move(after));
}

} // namespace

TEST(engine, does_not_do_a_whole_chain_in_one_step) {
    for (const std::size_t bytes : {std::size_t{8}, std::size_t{1} << 20}) {
        bench on;
        constexpr int count = 200;
        fake_gate_state entry;
        std::vector<std::shared_ptr<fake_listener>> told;
        std::vector<std::shared_ptr<command>> all;
        for (int i = 0; i < count; ++i) {
            told.push_back(on.listener(i));
            all.push_back(command_at_once(bytes, told.back(), i == 0 ? gates_of({&entry}) : gates_of({}),
                                          i == 0 ? std::vector<std::shared_ptr<command>>{} : std::vector{all.back()}));
            on.machine->submit(all.back());
        }
        on.settle();
        entry.value = gate::state::open;
        std::ptrdiff_t before = 0;
        for (int steps = 0; told.back()->times == 0 && steps < 10 * count; ++steps) {
            (void)on.machine->step();
            const auto ended = std::ranges::count_if(told, [](const auto& each) { return each->times > 0; });
            EXPECT_LE(ended - before, 8) << "large ones one by one";
            if (bytes > 8) {
                EXPECT_LE(ended - before, 2);
            }
            before = ended;
        }
        EXPECT_EQ(before, count);
    }
}

TEST(engine, is_active_until_all_has_been_said) {
    bench on;
    const auto told = on.listener(1);
    const auto work = command_at_once(8, told);
    bool was_active = false, was_told = true;
    told->at_step_over = [&] {
        was_active = on.machine->active() == 1;
        was_told = work->is_told();
    };
    on.machine->submit(work);
    on.settle();
    EXPECT_TRUE(was_active) << "the process could end, and the driver with it";
    EXPECT_FALSE(was_told);
    EXPECT_TRUE(work->is_told());
    EXPECT_EQ(on.machine->active(), 0u);
}

TEST(engine, plans_a_gated_transfer_by_the_options_when_it_starts) {
    for (const std::size_t bytes : {std::size_t{32} << 10, std::size_t{128} << 10}) {
        bench on;
        fake_gate_state entry;
        const auto work = command_at_once(bytes, on.listener(1), gates_of({&entry}));
        on.machine->submit(work);
        on.settle();
        on.settings.set("block", "4096");
        entry.value = gate::state::open;
        on.settle();
        EXPECT_TRUE(work->complete());
        EXPECT_EQ(work->report().chosen.block_bytes, 4096u);
    }
}

TEST(engine, fails_all_that_depend_on_a_failed_command) {
    bench on;
    fake_gate_state entry;
    small_command first(on, 1, gates_of({&entry}));
    small_command second(on, 2, {}, {first.work});
    small_command third(on, 3, {}, {second.work});
    on.settle();
    entry.value = gate::state::failed;
    on.clock.advance(100ms);
    finish_all(on);
    for (const auto& told : {first.told, second.told, third.told}) {
        EXPECT_EQ(told->times, 1);
        EXPECT_EQ(told->error.status, status::wait_list_failed);
    }
    EXPECT_EQ(on.machine->active(), 0u);
}

TEST(engine, fails_a_command_that_depends_on_one_that_had_failed_before) {
    bench on;
    fake_gate_state entry{gate::state::failed};
    small_command first(on, 1, gates_of({&entry}));
    finish_all(on);
    small_command second(on, 2, {}, {first.work});
    finish_all(on);
    EXPECT_EQ(second.told->error.status, status::wait_list_failed);
}

TEST(engine, fails_a_chain_of_a_hundred_thousand_commands) {
    bench on;
    fake_gate_state entry;
    std::vector<std::unique_ptr<small_command>> chain;
    chain.push_back(std::make_unique<small_command>(on, 0, gates_of({&entry})));
    for (int i = 1; i < 100000; ++i) {
        std::vector<std::shared_ptr<command>> after{chain.back()->work};
        chain.push_back(std::make_unique<small_command>(on, i, std::vector<std::unique_ptr<gate>>{}, std::move(after)));
    }
    on.settle();
    entry.value = gate::state::failed;
    on.clock.advance(100ms);
    on.settle();
    EXPECT_EQ(chain.back()->told->error.status, status::wait_list_failed);
    EXPECT_EQ(on.machine->active(), 0u);
}

TEST(engine, cancels_a_gated_command_at_once) {
    bench on;
    fake_gate_state entry;
    small_command it(on, 1, gates_of({&entry}));
    on.settle();
    on.machine->cancel(it.work, {status::cancelled, 0, 0, "by the test"});
    on.settle();
    EXPECT_EQ(it.told->error.status, status::cancelled);
    EXPECT_EQ(it.source.abandoned, 1);
}

TEST(engine, asks_for_a_wake_up_when_a_gate_stays_closed_and_then_sleeps) {
    bench on;
    fake_gate_state entry;
    small_command it(on, 1, gates_of({&entry}));
    on.settle();
    EXPECT_EQ(entry.armed, 0);
    on.clock.advance(2ms);
    on.settle();
    EXPECT_EQ(entry.armed, 1);
    const auto pause = on.machine->pause();
    ASSERT_TRUE(pause);
    EXPECT_GE(*pause, 100us);
    entry.value = gate::state::open;
    entry.engine->wake(entry.command);
    finish_all(on);
    EXPECT_TRUE(it.work->complete());
}

TEST(engine, spends_little_on_many_commands_whose_gates_stay_closed) {
    bench on;
    std::vector<fake_gate_state> entries(1000);
    std::vector<std::unique_ptr<small_command>> all;
    for (auto& entry : entries) all.push_back(std::make_unique<small_command>(on, 0, gates_of({&entry})));
    on.settle();
    on.clock.advance(2ms);
    on.settle();
    for (const auto& entry : entries) ASSERT_EQ(entry.armed, 1);
    const auto looks = [&] {
        std::size_t sum = 0;
        for (const auto& entry : entries) sum += static_cast<std::size_t>(entry.looks);
        return sum;
    };
    const auto before = looks();
    const auto until = on.clock.now() + 2s;
    std::size_t wakes = 0;
    for (; on.clock.now() < until; ++wakes) {
        const auto pause = on.machine->pause();
        ASSERT_TRUE(pause);
        on.clock.advance(std::max<std::chrono::nanoseconds>(*pause, 1us));
        on.settle();
    }
    // A look takes two microseconds, a wake-up less than twenty: two per cent of two seconds are forty milliseconds.
    EXPECT_LE(2 * (looks() - before) + 20 * wakes, 40'000u) << looks() - before << " looks, " << wakes << " wake-ups";
    // Not all implementations call back for events that fail.
    entries[500].value = gate::state::failed;
    on.clock.advance(500ms);
    on.settle();
    EXPECT_EQ(all[500]->told->error.status, status::wait_list_failed);
    for (auto& entry : entries)
        if (entry.value != gate::state::failed) {
            entry.value = gate::state::open;
            entry.engine->wake(entry.command);
        }
    finish_all(on);
}

TEST(engine, looks_at_the_commands_behind_one_that_ends_at_once) {
    bench on;
    fake_gate_state first_entry, second_entry;
    small_command first(on, 1, gates_of({&first_entry}));
    small_command second(on, 2, gates_of({&second_entry}));
    on.settle();
    on.clock.advance(10s);
    on.settle();
    first_entry.value = gate::state::open;
    first_entry.engine->wake(first_entry.command);
    second_entry.value = gate::state::open;
    finish_all(on);
    EXPECT_EQ(on.order, (std::vector<int>{1, 2}));
}

TEST(engine, finds_a_failed_gate_that_never_calls_back) {
    bench on;
    fake_gate_state entry;
    small_command it(on, 1, gates_of({&entry}));
    on.settle();
    on.clock.advance(10s);
    on.settle();
    entry.value = gate::state::failed;
    const auto pause = on.machine->pause();
    ASSERT_TRUE(pause);
    EXPECT_LE(*pause, 1s);
    on.clock.advance(*pause);
    on.settle();
    EXPECT_EQ(it.told->error.status, status::wait_list_failed);
}

TEST(engine, looks_rarely_at_gates_that_stay_closed) {
    bench on;
    std::vector<fake_gate_state> entries(1000);
    std::vector<std::unique_ptr<small_command>> all;
    for (auto& entry : entries) all.push_back(std::make_unique<small_command>(on, 0, gates_of({&entry})));
    on.settle();
    on.clock.advance(10s);
    on.settle();
    const auto before = entries[0].looks;
    for (int i = 0; i < 1000; ++i) {
        on.clock.advance(1ms);
        on.settle();
    }
    EXPECT_LE(entries[0].looks - before, 30);
}

TEST(engine, looks_at_few_gates_in_a_step_and_at_each_in_turn) {
    bench on;
    std::vector<fake_gate_state> entries(64);
    std::vector<std::unique_ptr<small_command>> all;
    for (auto& entry : entries) all.push_back(std::make_unique<small_command>(on, 0, gates_of({&entry})));
    const auto looks = [&] {
        int sum = 0;
        for (const auto& entry : entries) sum += entry.looks;
        return sum;
    };
    (void)on.machine->step(); // takes them in
    for (int i = 0; i < 64; ++i) {
        const auto before = looks();
        (void)on.machine->step();
        EXPECT_LE(looks() - before, 4);
    }
    for (const auto& entry : entries) EXPECT_GE(entry.looks, 3);
    for (auto& entry : entries) entry.value = gate::state::open;
    for (int i = 0; i < 16; ++i) (void)on.machine->step();
    for (const auto& each : all) EXPECT_EQ(each->source.opened, 1);
    finish_all(on);
}

TEST(engine, looks_at_all_gates_when_it_has_slept_until_one_is_open) {
    for (const std::size_t which : {0, 40, 63}) {
        bench on;
        std::vector<fake_gate_state> entries(64);
        std::vector<std::unique_ptr<small_command>> all;
        for (auto& entry : entries) all.push_back(std::make_unique<small_command>(on, 0, gates_of({&entry})));
        on.settle();
        on.clock.advance(100us);
        entries[which].value = gate::state::open;
        (void)on.machine->step();
        EXPECT_EQ(all[which]->source.opened, 1);
        // The others come in turn, without a pause.
        for (auto& entry : entries) entry.value = gate::state::open;
        for (int i = 0; i < 16; ++i) (void)on.machine->step();
        for (const auto& each : all) EXPECT_EQ(each->source.opened, 1);
        finish_all(on);
    }
}

TEST(engine, looks_after_others_while_its_own_thread_moves_a_large_transfer) {
    /// Its blocks are there as soon as they are asked for.
    struct at_once final : endpoint {
        [[nodiscard]] endpoint_traits traits() const override { return {.kind = medium::device}; }
        [[nodiscard]] std::string name() const override { return "at once"; }
    };
    bench on;
    constexpr std::size_t mib = 1 << 20, whole = 64 * mib;
    on.settings.set("block", "256K");
    const auto told = on.listener(1);
    const auto work = bench::make(std::make_unique<at_once>(), std::make_unique<at_once>(), whole, told);
    on.machine->submit(work);
    std::size_t before = 0;
    int turns = 0;
    for (; !work->complete() && turns < 1000; ++turns) {
        (void)on.machine->step();
        const auto moved = work->report().bytes_moved[0];
        EXPECT_LE(moved - before, 4 * mib);
        before = moved;
        EXPECT_TRUE(work->complete() || on.machine->pause() == 0ns);
    }
    EXPECT_GE(turns, 16);
    EXPECT_EQ(before, whole);
}

TEST(engine, starts_a_small_transfer_before_most_of_the_large_ones_that_open_with_it) {
    for (const bool has_slept : {false, true}) {
        bench on;
        fake_gate_state entry;
        std::vector<std::unique_ptr<small_command>> large;
        for (int i = 0; i < 64; ++i)
            large.push_back(std::make_unique<small_command>(on, 0, gates_of({&entry}),
                                                            std::vector<std::shared_ptr<command>>{}, 1 << 20));
        small_command small(on, 1, gates_of({&entry}));
        (void)on.machine->step();
        if (has_slept) {
            on.settle();
            on.clock.advance(100us);
        }
        entry.value = gate::state::open;
        (void)on.machine->step();
        EXPECT_EQ(small.source.opened, 1);
        EXPECT_LE(std::count_if(large.begin(), large.end(), [](const auto& each) { return each->source.opened > 0; }),
                  8);
        finish_all(on);
    }
}

namespace {

struct endless_wait final : progress_source {
    bool poll(time_point) override { return false; }
    [[nodiscard]] bool busy() const override { return true; }
};

} // namespace

TEST(engine, looks_for_what_has_not_come_for_seconds_every_20_ms) {
    for (const auto waited : {8s, 600s}) {
        bench on;
        endless_wait endless;
        on.machine->add(endless);
        EXPECT_FALSE(on.machine->step());
        on.machine->looked_in_vain(50us); // 0.25 % of a processor
        on.clock.advance(waited);
        EXPECT_EQ(on.machine->pause().value(), 20ms);
    }
}

TEST(engine, sleeps_longer_in_a_long_wait_where_looks_are_dear) {
    bench on;
    endless_wait endless;
    on.machine->add(endless);
    EXPECT_FALSE(on.machine->step());
    on.clock.advance(20ms);
    const auto cheap = on.machine->pause().value();
    EXPECT_EQ(cheap, 200us);
    on.machine->looked_in_vain(50us);
    EXPECT_NEAR(std::chrono::duration<double>(on.machine->pause().value()).count(), std::sqrt(2 * 20e-3 * 50e-6), 1e-6);
    on.machine->looked_in_vain(1s); // it did something else
    EXPECT_LE(on.machine->pause().value(), 1500us);
    on.machine->looked_in_vain(1us);
    EXPECT_EQ(on.machine->pause().value(), cheap);
    on.machine->looked_in_vain(50us);
    EXPECT_LE(on.machine->pause().value(), 210us) << "one look among cheap ones";
}

TEST(engine, polls_on_for_as_long_as_others_may_work_as_it_did) {
    bench on;
    struct worker : progress_source {
        explicit worker(unit::fake_clock& that) : clock(that) {}
        bool poll(time_point) override {
            clock.advance(work.front());
            return work.size() > 1 ? work.erase(work.begin()) != work.end() : false;
        }
        [[nodiscard]] bool busy() const override { return true; }
        unit::fake_clock& clock;
        std::vector<std::chrono::microseconds> work{0us}; // steps that get on, and what takes no time ever after
    } copier(on.clock);
    on.machine->add(copier);
    const auto polls_for = [&](std::vector<std::chrono::microseconds> work) {
        on.clock.advance(1ms);
        copier.work = std::move(work);
        copier.work.push_back(0us);
        while (on.machine->step()) {}
        std::chrono::microseconds polled{};
        for (; on.machine->pause() == 0ns; polled += 1us) on.clock.advance(1us);
        return polled;
    };
    EXPECT_EQ(polls_for({1us}), 20us);
    EXPECT_EQ(polls_for({50us}), 100us);
    EXPECT_EQ(polls_for({50us, 1us}), 99us) << "what tells the others";
    EXPECT_EQ(polls_for({200us}), 300us) << "bounded";
    EXPECT_EQ(polls_for({10'000us}), 20us) << "it had to wait for a processor";
    on.settings.set("spin", "20");
    EXPECT_EQ(polls_for({50us}), 20us) << "as long as it is told";
}

TEST(engine, needs_no_polling_without_work) {
    bench on;
    EXPECT_FALSE(on.machine->pause());
    small_command it(on, 1);
    finish_all(on);
    on.clock.advance(1min);
    on.settle();
    on.clock.advance(1min);
    on.settle();
    EXPECT_FALSE(on.machine->pause());
}

TEST(engine, polls_for_what_takes_long_less_and_less_often) {
    bench on;
    struct : progress_source {
        bool poll(time_point) override {
            ++polls;
            return false;
        }
        [[nodiscard]] bool busy() const override { return true; }
        int polls = 0;
    } endless;
    on.machine->add(endless);
    const auto polls_in = [&](std::chrono::nanoseconds time) {
        const auto before = endless.polls;
        for (const auto end = on.clock.now() + time; on.clock.now() < end;) {
            EXPECT_FALSE(on.machine->step());
            const auto pause = on.machine->pause();
            on.clock.advance(std::max<std::chrono::nanoseconds>(pause.value_or(time), 1us));
        }
        return endless.polls - before;
    };
    EXPECT_GE(polls_in(10ms), 50) << "what comes soon is seen soon";
    (void)polls_in(990ms);
    EXPECT_LE(polls_in(1s), 300);
}

TEST(engine, gives_nothing_back_once_the_process_ends) {
    bench on;
    struct : progress_source {
        bool poll(time_point) override { return false; }
        [[nodiscard]] bool busy() const override { return false; }
        bool trim(time_point) override {
            ++trims;
            return true;
        }
        int trims = 0;
    } keeper;
    on.machine->add(keeper);
    small_command it(on, 1);
    finish_all(on);
    on.clock.advance(1min);
    on.settle();
    EXPECT_EQ(keeper.trims, 1);
    EXPECT_TRUE(on.machine->pause());
    on.machine->keep_all();
    on.clock.advance(1min);
    on.settle();
    EXPECT_EQ(keeper.trims, 1);
    EXPECT_FALSE(on.machine->pause());
}

TEST(engine, lets_two_engines_work_side_by_side) {
    bench one, other;
    small_command first(one, 1), second(other, 2);
    finish_all(one);
    EXPECT_TRUE(first.work->complete());
    EXPECT_FALSE(second.work->complete());
    finish_all(other);
    EXPECT_TRUE(second.work->complete());
}

TEST(engine, stamps_the_times_of_a_command_in_order) {
    bench on;
    fake_gate_state entry;
    small_command it(on, 1, gates_of({&entry}));
    on.clock.advance(1us);
    on.settle();
    on.clock.advance(1us);
    entry.value = gate::state::open;
    on.settle();
    on.clock.advance(1us);
    finish_all(on);
    const auto report = it.work->report();
    EXPECT_EQ(report.submitted - report.queued, 1us);
    EXPECT_EQ(report.started - report.submitted, 1us);
    EXPECT_EQ(report.ended - report.started, 1us);
}
