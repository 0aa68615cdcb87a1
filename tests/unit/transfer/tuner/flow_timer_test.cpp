// SPDX-License-Identifier: Apache-2.0
// What transfers tell the tuner of themselves, on an engine whose steps and clock the test moves.
#include "unit/transfer/fakes.hpp"

#include <gtest/gtest.h>

#include <numeric>

using namespace unit;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t kib = 1024;
constexpr endpoint_traits file{.kind = medium::file, .resource = "disk"};
constexpr endpoint_traits device{.kind = medium::device, .resource = "gpu"};
constexpr endpoint_traits mappable{.kind = medium::device, .can_map = true, .resource = "cpu"};

struct learning : bench {
    std::vector<std::byte> from = pattern(64 * kib), to = std::vector<std::byte>(64 * kib);
    fake_endpoint::life source_life, target_life;

    learning() {
        for (const char* const resource : {"disk", "gpu", "cpu"})
            for (const auto what : {operation::read, operation::copy_in, operation::map_in})
                machine->figures().measured(resource, what, stage_model::line(1e-3, 1e14, 1e14));
    }
    [[nodiscard]] std::shared_ptr<command> begin(endpoint_traits source, endpoint_traits target,
                                                 fault_plan* faults = nullptr) {
        auto work = make(std::make_unique<fake_endpoint>(steps, from, source, source_life, faults),
                         std::make_unique<fake_endpoint>(steps, to, target, target_life), from.size(), listener());
        machine->submit(work);
        settle();
        return work;
    }
    /// Every step takes so long, one after the other.
    void end_all(std::chrono::nanoseconds each) {
        while (steps.count() > 0) {
            clock.advance(each);
            steps.finish(0);
            settle();
        }
    }
    [[nodiscard]] double known(const char* resource, operation what) const {
        return machine->figures().all().at(index(resource, what)).model.seconds(64.0 * kib);
    }
    [[nodiscard]] std::size_t index(const char* resource, operation what) const {
        const auto all = machine->figures().all();
        for (std::size_t i = 0; i < all.size(); ++i)
            if (all[i].resource == resource && all[i].what == what) return i;
        return all.size();
    }
};

} // namespace

TEST(learning, follows_the_times_of_the_steps) {
    learning by;
    for (int i = 0; i < 60; ++i) {
        const auto work = by.begin(file, device);
        by.end_all(20ms);
        ASSERT_TRUE(work->complete());
    }
    EXPECT_NEAR(by.known("disk", operation::read), 20e-3, 1e-3);
    EXPECT_NEAR(by.known("gpu", operation::copy_in), 20e-3, 1e-3);
}

TEST(learning, takes_map_and_unmap_together) {
    learning by;
    by.machine->figures().measured("cpu", operation::copy_in, stage_model::line(1, 1e14, 1e14)); // so that it maps
    for (int i = 0; i < 60; ++i) {
        (void)by.begin(file, mappable);
        by.end_all(5ms);
    }
    // The fakes open and close one after the other: both ends' steps lie in the map's time.
    EXPECT_GE(by.known("cpu", operation::map_in), 9e-3);
    EXPECT_NEAR(by.known("cpu", operation::copy_in), 1, 1e-3) << "nothing was copied";
}

TEST(learning, takes_nothing_from_transfers_beside_others) {
    learning by;
    const auto one = by.begin(file, device), other = by.begin(file, device);
    by.end_all(50ms);
    ASSERT_TRUE(one->complete() && other->complete());
    EXPECT_NEAR(by.known("disk", operation::read), 1e-3, 1e-4);
    (void)by.begin(file, device);
    by.end_all(50ms);
    EXPECT_GT(by.known("disk", operation::read), 1.1e-3) << "and that one was alone";
}

TEST(learning, takes_nothing_from_plans_that_options_force) {
    learning by;
    for (const auto& [name, value] :
         {std::pair{"strategy", "pinned"}, {"block", "16K"}, {"depth", "2"}, {"lanes", "1"}}) {
        by.settings.set(name, value);
        (void)by.begin(file, device);
        by.end_all(50ms);
        by.settings.set(name, std::string(name) == "strategy" ? "auto" : "0");
    }
    EXPECT_NEAR(by.known("disk", operation::read), 1e-3, 1e-4);
    EXPECT_NEAR(by.known("gpu", operation::copy_in), 1e-3, 1e-4);
}

TEST(learning, takes_nothing_from_transfers_that_failed) {
    learning by;
    for (int failing = 0; failing < 3; ++failing) {
        fault_plan faults{.failing_call = failing};
        const auto work = by.begin(file, device, &faults);
        by.end_all(50ms);
        ASSERT_TRUE(work->complete());
        EXPECT_TRUE(work->report().error) << failing;
    }
    EXPECT_NEAR(by.known("disk", operation::read), 1e-3, 1e-4);
}

TEST(learning, takes_nothing_unless_the_tuner_is_automatic) {
    for (const char* const mode : {"fixed", "off"}) {
        learning by;
        by.settings.set("tuner", mode);
        (void)by.machine->figures().take_changed();
        for (int i = 0; i < 10; ++i) {
            (void)by.begin(file, device);
            by.end_all(50ms);
        }
        EXPECT_NEAR(by.known("disk", operation::read), 1e-3, 1e-4) << mode;
        EXPECT_FALSE(by.machine->figures().take_changed()) << mode;
    }
}

TEST(learning, fills_the_probe_of_a_flow_and_teaches_nothing_then) {
    learning by;
    auto probe = std::make_shared<flow_probe>();
    probe->chosen = {.strategy = "measuring", .block_bytes = 16 * kib, .depth = 1};
    auto source = std::make_unique<fake_endpoint>(by.steps, by.from, file, by.source_life);
    auto target = std::make_unique<fake_endpoint>(by.steps, by.to, device, by.target_life);
    auto moving = std::make_unique<flow>(std::move(source), std::move(target), by.from.size());
    moving->use(probe);
    std::vector<std::unique_ptr<flow>> flows;
    flows.push_back(std::move(moving));
    by.machine->submit(std::make_shared<command>(std::move(flows), by.listener()));
    by.settle();
    by.end_all(3ms);
    EXPECT_TRUE(probe->was_alone);
    for (const auto* const samples : {&probe->source, &probe->target}) {
        ASSERT_EQ(std::distance(samples->begin(), samples->end()), 1);
        EXPECT_NEAR(samples->begin()->seconds, 3e-3, 1e-9);
        EXPECT_EQ(samples->begin()->bytes, 16.0 * kib);
        EXPECT_EQ(samples->begin()->company, 1);
    }
    EXPECT_NEAR(by.known("disk", operation::read), 1e-3, 1e-4);
}

TEST(learning, tells_operations_in_company_from_those_alone) {
    fake_clock clock;
    flow_timer timer;
    timer.use(clock);
    std::vector<flow_timer::mark> marks(3);
    for (auto& each : marks) timer.begin(side::source, each);
    clock.advance(1ms);
    timer.end(side::source, marks[0], 100); // began alone, ended as one of three: says nothing
    timer.begin(side::source, marks[0]);    // one of three
    clock.advance(2ms);
    timer.end(side::source, marks[0], 100); // still
    for (auto& each : marks) timer.end(side::source, each, 0);
    const auto seen = timer.samples(side::source);
    ASSERT_EQ(std::distance(seen.begin(), seen.end()), 1);
    EXPECT_EQ(seen.begin()->company, 3);
    EXPECT_NEAR(seen.begin()->seconds, 2e-3, 1e-9);
}

TEST(learning, does_not_time_without_a_clock) {
    flow_timer timer;
    flow_timer::mark mark;
    timer.begin(side::source, mark);
    timer.end(side::source, mark, 100);
    const auto seen = timer.samples(side::source);
    EXPECT_EQ(seen.begin(), seen.end());
}
