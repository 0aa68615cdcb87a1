// SPDX-License-Identifier: Apache-2.0
// The name of a file system.
#include "base/file_system_name.hpp"

#include <gtest/gtest.h>

using causeway::file_system_name;

TEST(file_system_name, is_known_of_local_and_shared_ones) {
    EXPECT_EQ(file_system_name(0xEF53), "ext4");
    EXPECT_EQ(file_system_name(0x01021994), "tmpfs");
    EXPECT_EQ(file_system_name(0x6969), "nfs");
    EXPECT_EQ(file_system_name(0x0BD00BD0), "lustre");
}

TEST(file_system_name, is_found_where_the_kernel_gives_a_negative_number) {
    EXPECT_EQ(file_system_name(static_cast<unsigned long>(static_cast<int>(0xFF534D42))), "cifs");
}

TEST(file_system_name, is_its_number_where_nobody_knows_it) { EXPECT_EQ(file_system_name(0x4711), "0x4711"); }
