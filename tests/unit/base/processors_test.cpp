// SPDX-License-Identifier: Apache-2.0
// What a rank may use of the processors of its node.
#include "base/processors.hpp"
#include "unit/made_up_system.hpp"

#include <gtest/gtest.h>

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>

namespace processors = causeway::processors;

namespace {

processors::bounds bounds_of(const made_up_system& one) { return processors::find_bounds(one.root()); }

} // namespace

TEST(processors, of_a_free_process_are_shared_by_the_ranks_of_the_node) {
    EXPECT_EQ(processors::part_of_rank({.affinity = 16, .there = 16}), 16U);
    EXPECT_EQ(processors::part_of_rank({.affinity = 16, .there = 16, .ranks = 2}), 8U);
    EXPECT_EQ(processors::part_of_rank({.affinity = 2, .there = 2, .ranks = 4}), 1U);
}

TEST(processors, that_a_rank_is_bound_to_are_its_own) {
    EXPECT_EQ(processors::part_of_rank({.affinity = 1, .there = 16, .ranks = 2}), 1U);
    EXPECT_EQ(processors::part_of_rank({.affinity = 8, .there = 16, .ranks = 2}), 8U);
    EXPECT_EQ(processors::part_of_rank({.affinity = 32, .there = 64, .ranks = 64}), 1U) << "all of a socket";
    EXPECT_EQ(processors::part_of_rank({.affinity = 32, .there = 64, .ranks = 4}), 16U);
}

TEST(processors, of_a_container_are_shared_though_they_are_fewer_than_the_machine_has) {
    EXPECT_EQ(processors::part_of_rank({.affinity = 4, .there = 4, .ranks = 2}), 2U);
}

TEST(processors, are_no_more_than_the_time_that_the_ranks_have) {
    EXPECT_EQ(processors::part_of_rank({.affinity = 16, .there = 16, .quota = 4.5}), 4U);
    EXPECT_EQ(processors::part_of_rank({.affinity = 16, .there = 16, .quota = 4, .ranks = 2}), 2U);
    EXPECT_EQ(processors::part_of_rank({.affinity = 8, .there = 16, .quota = 4, .ranks = 2}), 2U);
    EXPECT_EQ(processors::part_of_rank({.affinity = 16, .there = 16, .quota = 0.5}), 1U);
}

TEST(processors, follow_the_affinity_of_the_process) {
    const auto child = fork();
    if (child == 0) {
        cpu_set_t all, one;
        CPU_ZERO(&all);
        CPU_ZERO(&one);
        if (sched_getaffinity(0, sizeof all, &all) != 0) _exit(2);
        int chosen = 0;
        while (!CPU_ISSET(chosen, &all)) ++chosen;
        CPU_SET(chosen, &one);
        if (sched_setaffinity(0, sizeof one, &one) != 0) _exit(2);
        _exit(processors::find_bounds().affinity == 1 && processors::of_rank() == 1 ? 0 : 1);
    }
    int status = 1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
}

TEST(processors, have_no_quota_where_no_cgroup_says_so) {
    const made_up_system nothing;
    EXPECT_TRUE(std::isinf(bounds_of(nothing).quota));
    EXPECT_GE(bounds_of(nothing).there, 1U);
}

TEST(processors, have_the_least_quota_of_a_cgroup_and_those_around_it) {
    const made_up_system one;
    one.write("proc/self/cgroup", "0::/slice/job/task");
    one.write("sys/fs/cgroup/slice/job/task/cpu.max", "max 100000");
    EXPECT_TRUE(std::isinf(bounds_of(one).quota));
    one.write("sys/fs/cgroup/slice/job/cpu.max", "250000 100000");
    EXPECT_DOUBLE_EQ(bounds_of(one).quota, 2.5);
    one.write("sys/fs/cgroup/slice/job/task/cpu.max", "400000 100000");
    EXPECT_DOUBLE_EQ(bounds_of(one).quota, 2.5);
    one.write("sys/fs/cgroup/slice/job/task/cpu.max", "nonsense");
    EXPECT_DOUBLE_EQ(bounds_of(one).quota, 2.5);
}

TEST(processors, have_the_quota_of_the_first_version_of_cgroups) {
    const made_up_system one;
    one.write("proc/self/cgroup", "5:cpuset:/job\n4:cpu,cpuacct:/job\n0::/elsewhere");
    one.write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "-1");
    one.write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000");
    EXPECT_TRUE(std::isinf(bounds_of(one).quota));
    one.write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "50000");
    EXPECT_DOUBLE_EQ(bounds_of(one).quota, 0.5);
}

TEST(processors, have_the_quota_of_a_container_that_does_not_know_its_cgroups_name) {
    const made_up_system one;
    one.write("proc/self/cgroup", "4:cpu,cpuacct:/docker/0123abcd");
    one.write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "300000");
    one.write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000");
    EXPECT_DOUBLE_EQ(bounds_of(one).quota, 3);
}

TEST(processors, that_are_there_are_those_of_the_cgroup) {
    const made_up_system one;
    one.write("proc/self/cgroup", "0::/job");
    const auto machine = bounds_of(one).there;
    one.write("sys/fs/cgroup/job/cpuset.cpus.effective", "0");
    EXPECT_EQ(bounds_of(one).there, 1U);
    one.write("sys/fs/cgroup/job/cpuset.cpus.effective", "0-65535");
    EXPECT_EQ(bounds_of(one).there, machine);

    const made_up_system first_version;
    first_version.write("proc/self/cgroup", "5:cpuset:/job");
    first_version.write("sys/fs/cgroup/cpuset/job/cpuset.effective_cpus", "3");
    EXPECT_EQ(bounds_of(first_version).there, 1U);
}

TEST(processors, of_a_list_are_counted) {
    EXPECT_EQ(processors::count_of("0"), 1U);
    EXPECT_EQ(processors::count_of("0-3,8,10"), 6U);
    for (const char* const no_list : {"", "x", "3-1", "1;2", "0-", "-1", "99999999999"})
        EXPECT_EQ(processors::count_of(no_list), 0U) << no_list;
}
