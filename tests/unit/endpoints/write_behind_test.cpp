// SPDX-License-Identifier: Apache-2.0
// What is sent to the disk behind the writer: all of it where that costs little, and no more than its share where it costs much.
#include "endpoints/file/write_behind.hpp"
#include "transfer/step.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <utility>
#include <vector>

using namespace causeway;
using namespace std::chrono_literals;

namespace {

constexpr off_t mib = off_t{1} << 20;

struct stepped_clock final : monotonic_clock {
    [[nodiscard]] time_point now() const override { return at; }
    time_point at;
};

/// A disk that takes its time for each MiB, and a writer that takes 10 ms for a block.
struct made_up_disk {
    made_up_disk() { now = this; }
    ~made_up_disk() { now = nullptr; }
    made_up_disk(const made_up_disk&) = delete;
    made_up_disk& operator=(const made_up_disk&) = delete;

    transfer::outcome write(endpoints::write_behind& behind, off_t start, std::size_t bytes) {
        return behind.write(start, [&] {
            clock.at += 10ms;
            return transfer::outcome{bytes, {}};
        });
    }
    static int start(int, off_t first, off_t bytes, unsigned flags) {
        EXPECT_EQ(flags, unsigned{SYNC_FILE_RANGE_WRITE}) << "nobody waits for the disk";
        now->ranges.emplace_back(first, bytes);
        now->clock.at += now->takes * bytes / mib;
        return now->answer;
    }

    stepped_clock clock;
    std::chrono::milliseconds takes{0};
    int answer = 0;
    std::vector<std::pair<off_t, off_t>> ranges;
    static inline made_up_disk* now = nullptr;
};

} // namespace

TEST(write_behind, sends_on_every_block_where_that_costs_nothing) {
    made_up_disk disk;
    endpoints::write_behind behind(3, disk.clock, made_up_disk::start);
    for (off_t block = 0; block < 4; ++block) (void)disk.write(behind, block * mib, mib);
    EXPECT_THAT(disk.ranges, testing::ElementsAre(std::pair(0 * mib, mib), std::pair(1 * mib, mib),
                                                  std::pair(2 * mib, mib), std::pair(3 * mib, mib)));
}

TEST(write_behind, waits_no_longer_for_a_slow_disk_than_an_eighth_of_the_time_of_the_writes) {
    made_up_disk disk;
    disk.takes = 40ms;
    endpoints::write_behind behind(3, disk.clock, made_up_disk::start);
    for (off_t block = 0; block < 63; ++block) (void)disk.write(behind, block * mib, mib);
    EXPECT_THAT(disk.ranges, testing::ElementsAre(std::pair(0 * mib, mib), std::pair(1 * mib, mib))) << "80 ms beside 630";
}

TEST(write_behind, sends_a_large_block_in_parts_as_long_as_the_disk_gets_on) {
    made_up_disk disk;
    disk.takes = 1ms;
    endpoints::write_behind behind(3, disk.clock, made_up_disk::start);
    (void)disk.write(behind, 0, 4 * mib);
    EXPECT_THAT(disk.ranges, testing::ElementsAre(std::pair(0 * mib, mib), std::pair(1 * mib, mib))) << "2 ms beside 10";
    (void)disk.write(behind, 4 * mib, mib);
    EXPECT_THAT(disk.ranges.back(), testing::Pair(2 * mib, mib)) << "what was left out comes before what is new";
}

TEST(write_behind, leaves_what_is_out_of_order_to_the_kernel) {
    made_up_disk disk;
    endpoints::write_behind behind(3, disk.clock, made_up_disk::start);
    (void)disk.write(behind, 5 * mib, mib);
    (void)disk.write(behind, 2 * mib, mib);
    EXPECT_THAT(disk.ranges, testing::ElementsAre(std::pair(5 * mib, mib), std::pair(2 * mib, mib)));
}

TEST(write_behind, gives_back_what_the_writer_says_and_keeps_errors_of_the_disk) {
    made_up_disk disk;
    disk.answer = -1;
    endpoints::write_behind behind(3, disk.clock, made_up_disk::start);
    const auto whole = disk.write(behind, 0, mib);
    EXPECT_EQ(whole.bytes, std::size_t{mib});
    EXPECT_FALSE(whole.error);
    EXPECT_EQ(behind.write(mib, [] { return transfer::outcome{0, {status::io_error, 0, 0, "full"}}; }).error.message, "full");
    EXPECT_EQ(disk.ranges.size(), 1u) << "nothing was written";
}
