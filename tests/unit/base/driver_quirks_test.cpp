// SPDX-License-Identifier: Apache-2.0
// What is known of drivers, by the names of their platforms and devices.
#include "base/driver_quirks.hpp"

#include <gtest/gtest.h>

using causeway::quirks_of;
using causeway::runs_inside_enqueue;

namespace {

constexpr auto pocl = "Portable Computing Language";

} // namespace

TEST(driver_quirks, go_by_the_beginning_of_the_platforms_name) {
    EXPECT_TRUE(quirks_of(pocl).needs_held_events);
    EXPECT_TRUE(quirks_of("Intel(R) OpenCL").hides_failed_waits);
    EXPECT_TRUE(quirks_of("NVIDIA CUDA").keeps_back_later);
    EXPECT_FALSE(quirks_of("NVIDIA CUDA").needs_held_events);
}

TEST(driver_quirks, of_an_unknown_driver_are_none) {
    const auto unknown = quirks_of("Somebody's OpenCL");
    EXPECT_TRUE(unknown.name.empty());
    EXPECT_FALSE(unknown.breaks_on_failed_waits || unknown.keeps_addresses || unknown.breaks_migrations);
    EXPECT_TRUE(quirks_of("").name.empty());
}

TEST(driver_quirks, know_pocls_device_that_runs_commands_inside_the_enqueue_by_old_and_new_names) {
    EXPECT_TRUE(runs_inside_enqueue(pocl, "basic-haswell-AMD EPYC"));
    EXPECT_TRUE(runs_inside_enqueue(pocl, "cpu-minimal-haswell-AMD EPYC"));
    EXPECT_FALSE(runs_inside_enqueue(pocl, "pthread-haswell-AMD EPYC"));
    EXPECT_FALSE(runs_inside_enqueue(pocl, "cpu-haswell-AMD EPYC"));
    EXPECT_FALSE(runs_inside_enqueue("Intel(R) OpenCL", "basic"));
}
