// SPDX-License-Identifier: Apache-2.0
// The function that the platform loads libcauseway for.
#include "base/cluster_calls.hpp"

#include <gtest/gtest.h>

extern "C" bool causeway_cluster_join(causeway::cluster_calls* calls, char* why, std::size_t room);

namespace {

TEST(cluster_join, refuses_a_platform_of_another_version) {
    causeway::cluster_calls calls;
    calls.table_bytes -= sizeof(void*);
    char why[200] = "";
    EXPECT_FALSE(causeway_cluster_join(&calls, why, sizeof why));
    EXPECT_STREQ(why, "libcauseway and libcauseway_icd are of different versions");
    EXPECT_EQ(calls.all_gather, nullptr);
}

} // namespace
