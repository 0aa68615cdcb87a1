// SPDX-License-Identifier: Apache-2.0
// What is known, what is learnt, and what is shown to those who plan.
#include "transfer/tuner/tuner.hpp"

#include "unit/transfer/fakes.hpp"

#include <gtest/gtest.h>

#include <thread>

using namespace unit;

namespace {

std::int64_t today = 1'000'000;

struct knowing {
    options settings;
    fake_clock clock;
    tuner known{settings, clock, [] { return today; }};
};

const auto model = stage_model::line(10e-6, 5e9, 9e9);

} // namespace

TEST(tuner, knows_what_was_measured_by_place_and_operation) {
    knowing with;
    EXPECT_FALSE(with.known.find("disk", operation::read));
    with.known.measured("disk", operation::read, model);
    EXPECT_EQ(with.known.find("disk", operation::read)->latency(), model.latency());
    EXPECT_FALSE(with.known.find("disk", operation::write));
    EXPECT_FALSE(with.known.find("another disk", operation::read));
}

TEST(tuner, shows_corrections_once_they_matter) {
    knowing with;
    with.known.measured("disk", operation::read, model);
    const auto before = with.known.version();
    const stage_sample slightly{1e6, 1.02 * model.seconds(1e6)};
    with.known.learn("disk", operation::read, slightly);
    EXPECT_EQ(with.known.version(), before);
    EXPECT_EQ(with.known.find("disk", operation::read)->ceiling, model.ceiling);
    for (int i = 0; i < 30; ++i) with.known.learn("disk", operation::read, {1e6, 2 * model.seconds(1e6)});
    EXPECT_GT(with.known.version(), before);
    const double once = model.seconds(1e6);
    EXPECT_NEAR(with.known.find("disk", operation::read)->seconds(1e6), 2 * once, 0.2 * once);
}

TEST(tuner, learns_a_stage_that_nobody_measured_once_it_saw_several_sizes) {
    knowing with;
    for (int i = 0; i < 100; ++i) with.known.learn("disk", operation::read, {1e6, model.seconds(1e6)});
    EXPECT_FALSE(with.known.find("disk", operation::read)) << "one size does not tell latency from bandwidth";
    for (int i = 0; i < 8; ++i) with.known.learn("disk", operation::read, {1e4, model.seconds(1e4)});
    ASSERT_TRUE(with.known.find("disk", operation::read));
    EXPECT_NEAR(with.known.find("disk", operation::read)->seconds(1e5), model.seconds(1e5), 1e-7);
}

TEST(tuner, remembers_when_it_saw_what) {
    knowing with;
    today = 1'000'000;
    with.known.measured("disk", operation::read, model);
    today = 1'000'100;
    with.known.learn("disk", operation::read, {1e6, model.seconds(1e6)});
    EXPECT_EQ(with.known.all().at(0).seen, 1'000'100);
    EXPECT_TRUE(with.known.take_changed());
    EXPECT_FALSE(with.known.take_changed());
}

TEST(tuner, takes_kept_figures_unless_it_knows_younger_ones) {
    knowing with;
    today = 1'000'000;
    with.known.measured("disk", operation::read, model);
    const auto other = stage_model::line(1, 5e9, 9e9);
    with.known.restore({{"disk", operation::read, other, today - 1}, {"device", operation::copy_in, other, today - 1}});
    EXPECT_EQ(with.known.find("disk", operation::read)->latency(), model.latency());
    EXPECT_EQ(with.known.find("device", operation::copy_in)->latency(), other.latency());
    with.known.restore({{"disk", operation::read, other, today + 1, today + 1}});
    EXPECT_EQ(with.known.find("disk", operation::read)->latency(), other.latency());
}

TEST(tuner, believes_what_was_measured_later_and_not_what_was_corrected_later) {
    knowing with;
    today = 1'000'000;
    with.known.measured("disk", operation::read, model);
    today = 1'000'300;
    with.known.learn("disk", operation::read, {1e6, model.seconds(1e6)});
    const auto fresh = stage_model::line(1, 5e9, 9e9);
    with.known.restore({{"disk", operation::read, fresh, today - 100, today - 100}}); // by another process
    EXPECT_EQ(with.known.find("disk", operation::read)->latency(), fresh.latency());
}

TEST(tuner, forgets) {
    knowing with;
    with.known.measured("disk", operation::read, model);
    const auto before = with.known.version();
    with.known.clear();
    EXPECT_FALSE(with.known.find("disk", operation::read));
    EXPECT_GT(with.known.version(), before);
    EXPECT_FALSE(with.known.take_changed());
}

TEST(tuner, is_used_by_several_threads) {
    knowing with;
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i)
        threads.emplace_back([&with, i] {
            const auto resource = "place " + std::to_string(i % 2);
            for (int round = 0; round < 1000; ++round) {
                with.known.measured(resource, operation::read, model);
                with.known.learn(resource, operation::read, {1e6, 1e-3});
                (void)with.known.find(resource, operation::read);
                (void)with.known.version();
                (void)with.known.all();
            }
        });
    for (auto& each : threads) each.join();
    EXPECT_EQ(with.known.all().size(), 2u);
}
