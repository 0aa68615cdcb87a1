// SPDX-License-Identifier: Apache-2.0
// PoCL's devices, by their names.
#include "base/pocl_device.hpp"

#include <gtest/gtest.h>

using causeway::runs_inside_enqueue;

TEST(pocl_device, that_runs_commands_inside_the_enqueue_is_known_by_old_and_new_names) {
    constexpr auto pocl = "Portable Computing Language";
    EXPECT_TRUE(runs_inside_enqueue(pocl, "basic-haswell-AMD EPYC"));
    EXPECT_TRUE(runs_inside_enqueue(pocl, "cpu-minimal-haswell-AMD EPYC"));
    EXPECT_FALSE(runs_inside_enqueue(pocl, "pthread-haswell-AMD EPYC"));
    EXPECT_FALSE(runs_inside_enqueue(pocl, "cpu-haswell-AMD EPYC"));
    EXPECT_FALSE(runs_inside_enqueue("Intel(R) OpenCL", "basic"));
}
