// SPDX-License-Identifier: Apache-2.0
// What contexts of a device share of its windows: how much there is, who waits, and when it goes.
#include "unit/transfer/fakes.hpp"

#include "endpoints/device/device_windows.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

using namespace unit;

namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

class device_windows : public ::testing::Test {
  protected:
    device_windows() {
        settings.set("window", std::to_string(16 * mib));
        settings.set("keep", "1000");
        all.use(bridge::make_host_bridge());
    }
    void pass(int milliseconds) {
        clock.advance(std::chrono::milliseconds(milliseconds));
        (void)one.trim(clock.now());
    }
    options settings;
    fake_clock clock;
    bridge::windows all{settings};
    endpoints::device_windows one{settings, clock, all, bridge::device_uuid{1}};
};

} // namespace

TEST_F(device_windows, are_made_once_within_what_the_option_says) {
    const auto arrivals = one.arrivals();
    ASSERT_NE(arrivals.first, nullptr);
    EXPECT_EQ(one.arrivals().first, arrivals.first);
    ASSERT_NE(one.departures(), nullptr);
    EXPECT_EQ(one.departures(), one.departures());
    EXPECT_EQ(all.at(arrivals.first)->bytes(), 8 * mib);
    EXPECT_EQ(one.departures()->bytes(), 4 * mib);
}

TEST_F(device_windows, are_whole_units_of_gpus_within_what_the_option_says) {
    settings.set("window", std::to_string(9 * mib));
    endpoints::device_windows odd{settings, clock, all, bridge::device_uuid{2}};
    EXPECT_EQ(all.at(odd.arrivals().first)->bytes(), 4 * mib);
    EXPECT_EQ(odd.departures()->bytes(), 2 * mib);
}

TEST_F(device_windows, that_cannot_be_had_are_asked_for_again_later) {
    auto others = all.create(bridge::device_uuid{1}, 12 * mib);
    EXPECT_EQ(one.arrivals().first, nullptr);
    EXPECT_NE(one.departures(), nullptr) << "for which there is room";
    others.reset();
    EXPECT_EQ(one.arrivals().first, nullptr) << "not at once: asking takes long";
    clock.advance(std::chrono::seconds(2));
    EXPECT_NE(one.arrivals().first, nullptr);
}

TEST_F(device_windows, that_cannot_be_had_say_why_once) {
    std::vector<std::string> heard;
    all.tell_to([&](const std::string& why, bridge::given_up) { heard.push_back(why); });
    const auto others = all.create(bridge::device_uuid{1}, 12 * mib);
    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(one.arrivals().first, nullptr);
        clock.advance(std::chrono::seconds(2));
    }
    ASSERT_EQ(heard.size(), 1U);
    EXPECT_NE(heard.front().find("no window of the device for blocks that arrive: "), std::string::npos)
        << heard.front();
}

TEST_F(device_windows, that_nobody_uses_for_a_while_go) {
    const std::weak_ptr<bridge::known_window> in = all.at(one.arrivals().first), out = one.departures();
    pass(900);
    EXPECT_FALSE(in.expired() || out.expired());
    pass(200);
    EXPECT_TRUE(in.expired() && out.expired());
    EXPECT_FALSE(one.trim(clock.now()));
    EXPECT_NE(one.arrivals().first, nullptr) << "and come again";
}

TEST_F(device_windows, in_use_stay) {
    const auto arrivals = one.arrivals();
    auto* const first = arrivals.first;
    const auto out = one.departures();
    {
        staging_share share(*arrivals.pool, arrivals.allocator, mib, staging_share::waits_for::sender, [] {});
        auto* const block = share.acquire();
        ASSERT_NE(block, nullptr);
        EXPECT_EQ(all.at(block), all.at(first));
        pass(5000);
        EXPECT_NE(all.at(first), nullptr);
        EXPECT_EQ(one.departures(), out);
        share.keep(block);
    }
}

TEST_F(device_windows, of_which_others_may_still_write_to_a_part_are_made_anew) {
    auto before = one.arrivals();
    auto* const block = before.allocator->allocate(mib);
    before.allocator->give_up(block);
    const auto after = one.arrivals();
    EXPECT_NE(after.allocator, before.allocator);
    EXPECT_NE(all.at(block), nullptr) << "while a block is held";
    before.allocator->release(block, mib);
    before = {};
    EXPECT_EQ(all.at(block), nullptr);
}

TEST_F(device_windows, make_blocks_wait_for_room_in_order) {
    ASSERT_NE(one.departures(), nullptr);
    EXPECT_FALSE(one.has_waiting());
    std::vector<std::byte*> places;
    const auto wait_for = [&](std::size_t bytes) {
        one.when_room(bytes, [&, bytes](std::byte* place) {
            places.push_back(place);
            one.is_there(bytes);
        });
    };
    for (int i = 0; i < 4; ++i) wait_for(3 * mib);
    ASSERT_EQ(places.size(), 1u);
    EXPECT_TRUE(one.has_waiting());
    one.give(places[0], 3 * mib);
    EXPECT_EQ(places.size(), 1u) << "not before what has ended is told";
    EXPECT_TRUE(one.serve());
    ASSERT_EQ(places.size(), 2u);
    EXPECT_FALSE(one.serve());
    wait_for(mib);
    EXPECT_EQ(places.size(), 2u) << "it fits, but others were there before";
    for (std::size_t i = 1; i < 4; ++i) {
        one.give(places[i], 3 * mib);
        EXPECT_EQ(one.serve(), i < 3);
    }
    EXPECT_EQ(places.size(), 5u);
    EXPECT_FALSE(one.has_waiting());
}

TEST_F(device_windows, let_large_blocks_enter_one_by_one) {
    settings.set("window", std::to_string(256 * mib));
    ASSERT_NE(one.departures(), nullptr);
    int begun = 0;
    for (int i = 0; i < 2; ++i) one.when_room(20 * mib, [&](std::byte*) { ++begun; });
    EXPECT_EQ(begun, 1) << "there is room, but the first may leave first";
    EXPECT_FALSE(one.serve());
    one.is_there(20 * mib);
    EXPECT_TRUE(one.serve());
    EXPECT_EQ(begun, 2);
}
