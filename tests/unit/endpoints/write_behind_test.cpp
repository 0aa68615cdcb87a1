// SPDX-License-Identifier: Apache-2.0
// What a thread beside the writer sends on to the disk, when it stops, and who waits for it.
#include "endpoints/file/write_behind.hpp"
#include "unit/endpoints/file_doubles.hpp"
#include "unit/transfer/fakes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <utility>
#include <vector>

using namespace causeway;
using namespace std::chrono_literals;

namespace {

constexpr off_t mib = off_t{1} << 20;

/// A file of 64 MiB of which each MiB takes 1 ms to be written, and on a disk that takes its time for each.
struct slow_file {
    slow_file() { now = this; }
    ~slow_file() { now = nullptr; }
    slow_file(const slow_file&) = delete;
    slow_file& operator=(const slow_file&) = delete;

    void write(off_t start, off_t bytes) {
        clock->advance(1ms * (bytes / mib));
        behind.wrote(start, static_cast<std::size_t>(bytes));
    }
    void write_and_go_on(off_t start, off_t bytes) {
        write(start, bytes);
        behind.go_on();
    }
    static int start(int fd, off_t first, off_t bytes, unsigned flags) {
        EXPECT_EQ(fd, 3);
        EXPECT_EQ(flags, unsigned{SYNC_FILE_RANGE_WRITE}) << "nobody waits for the disk";
        now->ranges.emplace_back(first / mib, bytes / mib);
        now->clock->advance(now->takes * (bytes / mib));
        if (now->meanwhile) now->meanwhile();
        return now->answer;
    }

    std::shared_ptr<unit::fake_clock> clock = std::make_shared<unit::fake_clock>();
    patient_workers workers;
    endpoints::write_behind behind{{3, 0, std::size_t{64 * mib}}, workers, clock, start};
    std::chrono::milliseconds takes{0};
    int answer = 0;
    std::function<void()> meanwhile;
    std::vector<std::pair<off_t, off_t>> ranges; // MiB
    static inline slow_file* now = nullptr;
};

} // namespace

TEST(write_behind, sends_all_there_is_in_ranges_by_a_worker_of_its_own) {
    slow_file file;
    file.write_and_go_on(0, 2 * mib);
    EXPECT_TRUE(file.workers.jobs.empty()) << "not worth a thread's waking yet";
    file.write_and_go_on(2 * mib, 2 * mib);
    file.write_and_go_on(4 * mib, 5 * mib);
    ASSERT_EQ(file.workers.jobs.size(), 1u) << "one at a time";
    EXPECT_EQ(file.workers.own_workers, 1);
    file.workers.finish_first();
    EXPECT_THAT(file.ranges, testing::ElementsAre(std::pair(0, 4), std::pair(4, 4)));
    file.write_and_go_on(9 * mib, 3 * mib);
    ASSERT_EQ(file.workers.jobs.size(), 1u);
    file.workers.finish_first();
    EXPECT_THAT(file.ranges, testing::ElementsAre(std::pair(0, 4), std::pair(4, 4), std::pair(8, 4)));
}

TEST(write_behind, goes_on_with_what_is_written_meanwhile) {
    slow_file file;
    file.write_and_go_on(0, 4 * mib);
    file.meanwhile = [&] {
        if (file.ranges.size() < 3) file.write(static_cast<off_t>(file.ranges.size()) * 4 * mib, 4 * mib);
    };
    file.workers.finish_first();
    EXPECT_THAT(file.ranges, testing::ElementsAre(std::pair(0, 4), std::pair(4, 4), std::pair(8, 4)));
}

TEST(write_behind, begins_no_range_that_the_end_would_wait_for) {
    slow_file file;
    file.takes = 3ms;
    file.write_and_go_on(0, 32 * mib);
    file.workers.finish_first();
    // 32 MiB in 32 ms, and 12 for each range, in which the writer does nothing here: at the speed so far the rest takes
    // 32, 44, 56...
    EXPECT_EQ(file.ranges.size(), 8u);
    file.write_and_go_on(32 * mib, 28 * mib);
    EXPECT_TRUE(file.workers.jobs.empty()) << "4 MiB are left, which take 11 ms";
}

TEST(write_behind, leaves_a_disk_alone_that_takes_longer_than_the_writer_has_left) {
    slow_file file;
    file.write_and_go_on(0, 60 * mib);
    file.takes = 3ms;
    file.workers.finish_first();
    EXPECT_THAT(file.ranges, testing::ElementsAre(std::pair(0, 4)))
        << "12 ms, of which it learns by one; the rest takes 5";
}

TEST(write_behind, leaves_errors_of_the_disk_to_those_who_ask_for_them) {
    slow_file file;
    waiter end;
    file.answer = -1;
    file.write_and_go_on(0, 8 * mib);
    file.workers.finish_first();
    EXPECT_THAT(file.ranges, testing::ElementsAre(std::pair(0, 4), std::pair(4, 4)));
    end.work.begin();
    file.behind.close({8 * mib, {}}, end.work);
    EXPECT_EQ(end.told, 1);
    EXPECT_FALSE(end.work.take().error);
}

TEST(write_behind, sends_nothing_once_all_is_written) {
    slow_file file;
    file.write(0, 64 * mib);
    file.behind.go_on();
    EXPECT_TRUE(file.workers.jobs.empty());
}

TEST(write_behind, joins_what_several_writers_write_out_of_order) {
    slow_file file;
    file.write(2 * mib, 2 * mib);
    file.write(6 * mib, 2 * mib);
    file.write(20 * mib, 3 * mib);
    file.behind.go_on();
    EXPECT_TRUE(file.workers.jobs.empty()) << "no range is whole";
    file.write(4 * mib, 2 * mib);
    file.write(0 * mib, 2 * mib);
    file.behind.go_on();
    file.workers.finish_first();
    EXPECT_THAT(file.ranges, testing::ElementsAre(std::pair(0, 4), std::pair(4, 4)));
    file.write(23 * mib, 3 * mib);
    file.write(8 * mib, 4 * mib);
    file.behind.go_on();
    file.workers.finish_first();
    EXPECT_THAT(file.ranges, testing::ElementsAre(std::pair(0, 4), std::pair(4, 4), std::pair(8, 4), std::pair(20, 4)));
}

TEST(write_behind, is_for_a_few_transfers_at_once) {
    std::vector<std::unique_ptr<slow_file>> files;
    int with_thread = 0;
    for (int i = 0; i < 6; ++i) {
        files.push_back(std::make_unique<slow_file>());
        files.back()->write_and_go_on(0, 8 * mib);
        with_thread += files.back()->workers.own_workers;
    }
    EXPECT_EQ(with_thread, 4);
    slow_file::now = files.front().get();
    files.front()->workers.finish_first();
    files.back()->behind.go_on();
    EXPECT_EQ(files.back()->workers.own_workers, 1) << "when one of them has done";
    slow_file::now = files.back().get();
    files.back()->workers.finish_first();
    EXPECT_EQ(files.back()->ranges.size(), 2u);
    for (std::size_t i = 1; i < 4; ++i) {
        slow_file::now = files[i].get();
        files[i]->workers.finish_first();
    }
}

TEST(write_behind, ends_when_nobody_uses_the_descriptor_any_more) {
    slow_file file;
    waiter end;
    file.write_and_go_on(0, 16 * mib);
    file.meanwhile = [&] {
        if (file.ranges.size() == 1) file.behind.close({7, {status::io_error, 0, 0, "full"}}, end.work);
        EXPECT_EQ(end.told, 0);
    };
    end.work.begin();
    file.workers.finish_first();
    EXPECT_THAT(file.ranges, testing::ElementsAre(std::pair(0, 4))) << "the rest is the kernel's";
    EXPECT_EQ(end.told, 1);
    const auto result = end.work.take();
    EXPECT_EQ(result.bytes, 7u);
    EXPECT_EQ(result.error.message, "full");
}

TEST(write_behind, ends_at_once_if_nothing_is_being_sent) {
    slow_file file;
    waiter end;
    end.work.begin();
    file.behind.close({7, {status::io_error, 0, 0, "full"}}, end.work);
    EXPECT_EQ(end.told, 1);
    EXPECT_EQ(end.work.take().error.message, "full");
}

TEST(write_behind, does_without_a_thread_that_cannot_be_made) {
    no_workers none;
    const auto clock = std::make_shared<unit::fake_clock>();
    endpoints::write_behind behind({3, 0, std::size_t{64 * mib}}, none, clock, slow_file::start);
    clock->advance(8ms);
    behind.wrote(0, std::size_t{8 * mib});
    behind.go_on();
    behind.go_on();
    EXPECT_EQ(none.asked, 1);
    waiter end;
    end.work.begin();
    behind.close({}, end.work);
    EXPECT_EQ(end.told, 1);
    EXPECT_FALSE(end.work.take().error);
}
