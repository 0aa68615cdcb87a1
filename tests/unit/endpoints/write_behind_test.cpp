// SPDX-License-Identifier: Apache-2.0
// What is written behind a transfer: never in its way, and over when the transfer is.
#include "endpoints/file/write_behind.hpp"
#include "unit/endpoints/file_doubles.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

using namespace causeway;

namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

} // namespace

TEST(write_behind, ends_at_once_where_nothing_is_under_way) {
    patient_workers workers;
    const scratch_file file;
    endpoints::write_behind behind(workers, file.fd);
    behind.go_on();
    EXPECT_TRUE(workers.jobs.empty()) << "nothing was written";
    behind.add(0, mib);
    waiter end;
    end.work.begin();
    behind.close({3, {}}, end.work);
    EXPECT_EQ(end.told, 1);
    EXPECT_EQ(end.work.take().bytes, 3u);
    behind.go_on();
    EXPECT_TRUE(workers.jobs.empty()) << "it is over";
}

TEST(write_behind, has_one_job_at_a_time_which_takes_all_that_there_is) {
    patient_workers workers;
    const scratch_file file;
    endpoints::write_behind behind(workers, file.fd);
    behind.add(0, 3 * mib);
    behind.go_on();
    behind.add(static_cast<off_t>(3 * mib), mib / 2);
    behind.go_on();
    ASSERT_EQ(workers.jobs.size(), 1u);
    workers.finish_first();
    behind.go_on();
    EXPECT_TRUE(workers.jobs.empty());
    behind.add(static_cast<off_t>(4 * mib), 1);
    behind.go_on();
    EXPECT_EQ(workers.jobs.size(), 1u);
    workers.finish_first();
}

TEST(write_behind, keeps_the_end_waiting_for_what_is_under_way_alone) {
    patient_workers workers;
    const scratch_file file;
    endpoints::write_behind behind(workers, file.fd);
    behind.add(0, 64 * mib);
    behind.go_on();
    waiter end;
    end.work.begin();
    behind.close({7, {status::io_error, 0, 0, "the transfer's own"}}, end.work);
    EXPECT_EQ(end.told, 0);
    workers.finish_first();
    EXPECT_EQ(end.told, 1);
    const auto result = end.work.take();
    EXPECT_EQ(result.bytes, 7u);
    EXPECT_EQ(result.error.message, "the transfer's own");
}

TEST(write_behind, leaves_errors_to_those_who_ask_for_them) {
    patient_workers workers;
    endpoints::write_behind behind(workers, -1);
    behind.add(0, mib);
    behind.go_on();
    workers.finish_first();
    waiter end;
    end.work.begin();
    behind.close({}, end.work);
    EXPECT_EQ(end.told, 1);
    EXPECT_FALSE(end.work.take().error);
}
