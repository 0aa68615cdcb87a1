// SPDX-License-Identifier: Apache-2.0
// How few bytes are written where a device is this process's own, and where another one uses it.
#include "endpoints/device/small_writes.hpp"

#include "unit/transfer/fakes.hpp"

#include <gtest/gtest.h>

using namespace causeway;
using namespace std::chrono_literals;
using way = endpoints::small_writes::way;

namespace {

class small_writes : public testing::Test {
  protected:
    /// Whether a write goes as two rows, on a device where it takes `plain` or `rows`.
    bool as_rows(std::chrono::microseconds plain, std::chrono::microseconds rows) {
        const auto chosen = m_writes.way_of(8);
        const auto timing = m_writes.begin(chosen);
        m_clock.advance(chosen == way::plain ? plain : rows);
        timing.ended(m_clock.now());
        return chosen == way::two_rows;
    }
    int rows_of(int count, std::chrono::microseconds plain, std::chrono::microseconds rows,
                std::chrono::microseconds pause = 10us) {
        int found = 0;
        for (int i = 0; i < count; ++i, m_clock.advance(pause)) found += as_rows(plain, rows) ? 1 : 0;
        return found;
    }
    unit::fake_clock m_clock;
    endpoints::small_writes m_writes{m_clock};
};

} // namespace

TEST_F(small_writes, are_plain_where_that_is_fast) { EXPECT_EQ(rows_of(1000, 7us, 9us), 0); }

TEST_F(small_writes, go_as_rows_where_another_process_uses_the_device) {
    EXPECT_EQ(rows_of(2, 150us, 19us), 0) << "two tell";
    EXPECT_EQ(rows_of(1000, 150us, 19us), 1000);
    // Asked again, more and more seldom: of 20 s a handful of writes are plain.
    EXPECT_GE(rows_of(20000, 150us, 19us, 1000us), 19980);
}

TEST_F(small_writes, go_as_rows_at_once_where_another_process_has_said_that_it_is_there) {
    EXPECT_EQ(m_writes.way_of(8, true), way::two_rows);
    EXPECT_EQ(m_writes.way_of(7, true), way::plain);
    m_writes.give_rows_up();
    EXPECT_EQ(m_writes.way_of(8, true), way::plain);
}

TEST_F(small_writes, are_plain_again_when_that_process_has_gone) {
    rows_of(5000, 150us, 19us, 1000us);
    m_clock.advance(3s);
    EXPECT_EQ(rows_of(1000, 7us, 9us), 0);
}

TEST_F(small_writes, stay_plain_where_rows_are_no_faster) {
    // Each third asks.
    EXPECT_LE(rows_of(999, 150us, 140us), 333);
    EXPECT_EQ(rows_of(1, 150us, 140us) + rows_of(1, 150us, 140us), 0);
}

TEST_F(small_writes, of_which_one_was_slow_stay_plain) {
    EXPECT_FALSE(as_rows(200us, 19us));
    EXPECT_EQ(rows_of(100, 7us, 19us), 0);
}

TEST_F(small_writes, of_odd_bytes_and_large_ones_are_plain) {
    rows_of(10, 150us, 19us);
    EXPECT_EQ(m_writes.way_of(2), way::two_rows);
    EXPECT_EQ(m_writes.way_of(65536), way::two_rows);
    for (const std::size_t bytes : {0u, 1u, 3u, 65535u, 65538u, 1u << 20})
        EXPECT_EQ(m_writes.way_of(bytes), way::plain) << bytes;
}
