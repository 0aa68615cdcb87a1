// SPDX-License-Identifier: Apache-2.0
#include "endpoints/mpi/network_pace.hpp"

#include <gtest/gtest.h>

namespace causeway::endpoints {
namespace {

constexpr std::size_t kibibyte = 1024, mebibyte = 1024 * kibibyte;

std::chrono::nanoseconds time_of(std::size_t bytes, double bytes_per_second) {
    return std::chrono::nanoseconds(static_cast<std::int64_t>(static_cast<double>(bytes) / bytes_per_second * 1e9));
}

TEST(network_pace, takes_blocks_of_a_quarter_of_a_millisecond) {
    for (const auto& [bytes_per_second, block] : {std::pair{0.12e9, 32 * kibibyte},
                                                  {1.1e9, 256 * kibibyte},
                                                  {2.5e9, 512 * kibibyte},
                                                  {12e9, 4 * mebibyte},
                                                  {1e12, 4 * mebibyte},
                                                  {1e3, 32 * kibibyte}}) {
        network_pace pace;
        for (int i = 0; i < 8; ++i) pace.saw(64 * mebibyte, time_of(64 * mebibyte, bytes_per_second));
        EXPECT_EQ(pace.block_bytes(), block) << bytes_per_second;
    }
}

TEST(network_pace, is_that_of_all_messages_side_by_side) {
    network_pace pace;
    constexpr double ten_gigabits = 1.1e9;
    constexpr int messages = 8, blocks = 64;
    for (int round = 0; round < 4; ++round) {
        std::uint64_t before[messages] = {}, all[messages] = {};
        const auto block = pace.block_bytes();
        for (int i = 0; i < blocks; ++i)
            for (int k = 0; k < messages; ++k) (i == 0 ? before : all)[k] = pace.came(block);
        for (int k = 0; k < messages; ++k)
            pace.saw(all[k] - before[k], time_of((blocks - 1) * messages * block, ten_gigabits));
        EXPECT_EQ(pace.block_bytes(), 256 * kibibyte) << "round " << round;
    }
}

TEST(network_pace, believes_one_message_little) {
    network_pace pace;
    pace.saw(64 * mebibyte, std::chrono::seconds(100));
    EXPECT_EQ(pace.block_bytes(), network_pace::first / 2);
    pace.saw(64 * mebibyte, std::chrono::microseconds(1));
    EXPECT_EQ(pace.block_bytes(), network_pace::first);
    pace.saw(64 * mebibyte, std::chrono::nanoseconds(0));
    EXPECT_EQ(pace.block_bytes(), network_pace::first);
}

} // namespace
} // namespace causeway::endpoints
