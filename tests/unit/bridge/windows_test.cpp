// SPDX-License-Identifier: Apache-2.0
// Windows by address, their limit, and copies that are over later.
#include "bridge/windows.hpp"

#include "base/error.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

using namespace causeway;
using bridge::copy_state;

namespace {

class windows : public ::testing::Test {
  protected:
    windows() { all.use(bridge::make_host_bridge()); }
    options settings;
    bridge::windows all{settings};
    bridge::device_uuid device{1};
};

} // namespace

TEST_F(windows, are_found_by_any_address_in_them) {
    const auto one = all.create(device, 10000), other = all.create(device, 4096);
    EXPECT_EQ(all.at(one->address()), one);
    EXPECT_EQ(all.at(one->address() + one->bytes() - 1), one);
    EXPECT_EQ(all.at(other->address() + 5), other);
    std::byte elsewhere{};
    EXPECT_EQ(all.at(&elsewhere), nullptr);
    EXPECT_NE(one->key(), other->key());
}

TEST_F(windows, that_are_gone_are_found_no_more) {
    auto one = all.create(device, 4096);
    auto* const where = one->address();
    one.reset();
    EXPECT_EQ(all.at(where), nullptr);
}

TEST_F(windows, of_a_device_take_no_more_than_the_option_says) {
    settings.set("window", "8388608");
    auto half = all.create(device, 4 << 20);
    const auto quarter = all.create(device, 2 << 20);
    try {
        (void)all.create(device, 4 << 20);
        FAIL() << "beyond the limit";
    } catch (const transfer_error& error) {
        EXPECT_EQ(error.code(), status::out_of_resources);
        EXPECT_NE(std::string(error.what()).find("CAUSEWAY_WINDOW"), std::string::npos) << error.what();
    }
    EXPECT_NO_THROW((void)all.create({2}, 8 << 20)) << "another device";
    half.reset();
    EXPECT_NO_THROW((void)all.create(device, 4 << 20)) << "what was given back";
}

TEST_F(windows, count_as_they_are_rounded_up) {
    settings.set("window", std::to_string((4 << 20) + 100));
    EXPECT_THROW((void)all.create(device, (4 << 20) + 1), transfer_error) << "which takes a page more";
    EXPECT_NO_THROW((void)all.create(device, 4 << 20));
}

TEST_F(windows, tell_why_transfers_take_another_way_and_once_that_links_are_given_up) {
    std::vector<std::string> heard;
    all.tell_to([&](const std::string& why, bridge::given_up how_long) {
        heard.push_back((how_long == bridge::given_up::for_good ? "for good: " : "for now: ") + why);
    });
    all.tell("no room");
    all.break_off("a copy failed");
    all.break_off("another one failed");
    EXPECT_EQ(heard, (std::vector<std::string>{"for now: no room", "for good: a copy failed"}));
}

TEST_F(windows, that_are_opened_show_the_same_bytes) {
    bridge::windows others(settings);
    others.use(bridge::make_host_bridge());
    const auto made = all.create(device, 4096);
    const auto opened = others.open(device, made->key(), made->shared(), made->bytes());
    std::memset(made->address(), 42, made->bytes());
    EXPECT_EQ(opened->key(), made->key());
    EXPECT_EQ(opened->address()[4095], std::byte{42});
}

TEST_F(windows, cannot_be_opened_by_what_is_no_window) {
    EXPECT_THROW((void)all.open(device, 1, descriptor(), 4096), transfer_error);
}

TEST_F(windows, copies_are_under_way_before_they_are_done) {
    const auto from = all.create(device, 4096), to = all.create(device, 4096);
    std::memset(from->address(), 7, 4096);
    auto& bridge = *all.bridge();
    const auto first = bridge.begin_copy(device, to->address(), from->address(), 100);
    const auto second = bridge.begin_copy(device, to->address() + 100, from->address(), 100);
    EXPECT_NE(first, second);
    EXPECT_EQ(bridge.look(second), copy_state::running);
    EXPECT_EQ(to->address()[100], std::byte{0});
    EXPECT_EQ(bridge.look(second), copy_state::done);
    EXPECT_EQ(to->address()[100], std::byte{7});
    EXPECT_EQ(to->address()[0], std::byte{0});
    EXPECT_EQ(bridge.look(first), copy_state::running);
    EXPECT_EQ(bridge.look(first), copy_state::done);
}

/// Wherever the tests run: a bridge or a reason, and no crash.
TEST(nvidia_bridge, says_what_is_missing) {
    try {
        const auto made = bridge::make_nvidia_bridge();
        EXPECT_NE(made->name().find("CUDA"), std::string::npos);
    } catch (const transfer_error& error) {
        EXPECT_STRNE(error.what(), "");
    }
}
