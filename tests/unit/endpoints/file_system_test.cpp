// SPDX-License-Identifier: Apache-2.0
// By what names figures of a file system are found again.
#include "endpoints/file/file_system.hpp"
#include "unit/endpoints/file_doubles.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <sstream>
#include <string>

using namespace causeway;

TEST(file_system, is_named_by_its_mount_where_its_number_is_any) {
    std::istringstream mounts("22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n"
                              "31 22 0:26 / /dev/shm rw,nosuid - tmpfs shm rw,size=9k\n"
                              "40 22 0:44 /part /data rw master:3 propagate_from:2 - btrfs /dev/vdb rw,subvol=/part\n"
                              "41 22 0:26 / /other rw - tmpfs shm rw\n"
                              "a line of another kind\n");
    const auto mounted_at = [&](const char* device, std::uint64_t mount) {
        mounts.clear();
        mounts.seekg(0);
        return endpoints::mounted_as(mounts, device, mount);
    };
    EXPECT_EQ(mounted_at("0:26", 41), "shm at /dev/shm") << "wherever else it is mounted";
    EXPECT_EQ(mounted_at("0:99", 40), "/dev/vdb at /data") << "a file of btrfs has a number of its own";
    EXPECT_EQ(mounted_at("0:99", 7), "");
}

TEST(file_system, has_a_name_that_a_restart_of_the_machine_leaves) {
    const scratch_file file;
    struct stat facts{};
    ASSERT_EQ(::fstat(file.fd, &facts), 0);
    const std::string name(endpoints::file_system_of(file.fd));
    EXPECT_THAT(name, testing::StartsWith("file system "));
    const auto number = std::to_string(major(facts.st_dev)) + ":" + std::to_string(minor(facts.st_dev));
    EXPECT_EQ(name.find(" " + number) != std::string::npos, major(facts.st_dev) != 0) << name;
    EXPECT_EQ(name, endpoints::file_system_of(file.fd));
}

TEST(file_system, is_of_this_machine_or_another) {
    for (const unsigned long own : {0xEF53UL, 0x2FC12FC1UL, 0xCA451A4EUL, 0x4D44UL, 0x2011BAB0UL, 0x7366746EUL})
        EXPECT_TRUE(endpoints::is_of_this_machine(own)) << own;
    for (const unsigned long other : {0x6969UL, 0x65735546UL, 0xFF534D42UL})
        EXPECT_FALSE(endpoints::is_of_this_machine(other)) << other;
}
