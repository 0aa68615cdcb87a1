// SPDX-License-Identifier: Apache-2.0
// How blocks for other processes are copied, where caches are near, far, and where that changes.
#include "endpoints/device/outward_copies.hpp"

#include "unit/transfer/fakes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

using namespace causeway;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t block_bytes = 64 << 10;

class outward_copies : public testing::Test {
  protected:
    /// Whether a block is streamed, on a machine where it takes `cached` through the caches and `streamed` past them.
    bool streams(std::chrono::microseconds cached, std::chrono::microseconds streamed,
                 std::size_t bytes = block_bytes) {
        bool past_caches = false;
        m_copies.copy(bytes, [&](auto copy) {
            past_caches = copy != m_through_caches;
            copy(m_to.data(), m_from.data(), bytes);
            m_clock.advance(past_caches ? streamed : cached);
        });
        return past_caches;
    }
    /// Of `count` blocks, one each `pause`.
    int streamed_of(int count, std::chrono::microseconds cached, std::chrono::microseconds streamed,
                    std::chrono::microseconds pause) {
        int found = 0;
        for (int i = 0; i < count; ++i) {
            found += streams(cached, streamed) ? 1 : 0;
            m_clock.advance(pause);
        }
        return found;
    }

    using copy_function = void (*)(std::byte*, const std::byte*, std::size_t);
    void SetUp() override {
        // Small ones always go through the caches.
        m_copies.copy(1, [this](copy_function copy) { m_through_caches = copy; });
    }

    unit::fake_clock m_clock;
    endpoints::outward_copies m_copies{m_clock};
    copy_function m_through_caches = nullptr;
    std::vector<std::byte> m_from = std::vector<std::byte>(block_bytes), m_to = std::vector<std::byte>(block_bytes);
};

} // namespace

TEST_F(outward_copies, go_through_caches_that_are_near) {
    EXPECT_EQ(streamed_of(1000, 4us, 5us, 10us), 2) << "they tell what streaming brings";
    EXPECT_EQ(streamed_of(1000, 9us, 5us, 10us), 0) << "slower, but by less than half";
    EXPECT_LE(streamed_of(3000, 4us, 5us, 1000us), 6) << "asked again each second";
}

TEST_F(outward_copies, go_past_caches_that_are_far) {
    EXPECT_GE(streamed_of(1000, 30us, 5us, 10us), 990);
    EXPECT_GE(streamed_of(1000, 30us, 5us, 1000us), 950) << "with pauses between them";
}

TEST_F(outward_copies, follow_processors_that_move) {
    EXPECT_EQ(streamed_of(100, 4us, 5us, 10us), 2);
    EXPECT_GE(streamed_of(100, 30us, 5us, 10us), 95);
    m_clock.advance(1s);
    EXPECT_EQ(streamed_of(100, 4us, 5us, 10us), 2);
}

TEST_F(outward_copies, are_not_misled_by_one_that_had_to_wait) {
    EXPECT_EQ(streamed_of(3, 4us, 5us, 10us), 2);
    EXPECT_FALSE(streams(4000us, 5us));
    EXPECT_EQ(streamed_of(1000, 4us, 5us, 10us), 0);
}

TEST_F(outward_copies, are_not_misled_by_one_that_met_new_memory) {
    EXPECT_TRUE(streams(30us, 4000us));
    EXPECT_GE(streamed_of(100, 30us, 5us, 10us), 97);
    EXPECT_TRUE(streams(30us, 4000us)) << "the last of a span had to wait";
    EXPECT_GE(streamed_of(10000, 30us, 5us, 10us), 9950);
}

TEST_F(outward_copies, go_through_caches_where_the_source_is_slow) {
    EXPECT_EQ(streamed_of(100, 4us, 5us, 10us), 2);
    // Bytes that come from memory.
    EXPECT_LE(streamed_of(1000, 15us, 14us, 10us), 2) << "asked anew";
    EXPECT_EQ(streamed_of(1000, 4us, 5us, 10us), 0);
    EXPECT_GE(streamed_of(1000, 35us, 14us, 10us), 990);
}

TEST_F(outward_copies, learn_anew_what_streaming_brings) {
    EXPECT_EQ(streamed_of(100, 30us, 20us, 10us), 2);
    m_clock.advance(1s);
    EXPECT_GE(streamed_of(100, 30us, 5us, 10us), 95);
}

TEST(streamed_copy, copies_every_byte_wherever_it_begins) {
    std::vector<std::byte> from(1000), to(1200);
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = std::byte(i * 7 + 1);
    for (const std::size_t bytes : {0, 1, 15, 63, 64, 65, 127, 128, 129, 500, 936})
        for (std::size_t at = 0; at < 65; ++at)
            for (const std::size_t first : {std::size_t{0}, std::size_t{1}, std::size_t{17}, at}) {
                std::fill(to.begin(), to.end(), std::byte{0});
                streamed_copy(to.data() + at, from.data() + first % 64, bytes);
                copied_all();
                ASSERT_TRUE(std::equal(to.begin() + at, to.begin() + at + bytes, from.begin() + first % 64))
                    << bytes << " at " << at;
                ASSERT_EQ(std::count(to.begin(), to.begin() + at, std::byte{0}), static_cast<std::ptrdiff_t>(at));
                ASSERT_EQ(std::count(to.begin() + at + bytes, to.end(), std::byte{0}),
                          static_cast<std::ptrdiff_t>(to.size() - at - bytes));
            }
}
