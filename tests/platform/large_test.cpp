// SPDX-License-Identifier: Apache-2.0
// Contents beyond what MPI counts in one message. Needs a time and memory that not every machine has:
// CAUSEWAY_TEST_LARGE=1.
#include "platform_fixture.hpp"

#include <cstring>

using namespace support;

namespace {

using large = platform_test;

TEST_F(large, contents_of_more_than_two_gibibytes_move_and_come_back_whole) {
    if (std::getenv("CAUSEWAY_TEST_LARGE") == nullptr) GTEST_SKIP() << "takes 6 times 2.3 GB in a cluster of two ranks";
    constexpr std::size_t size = (std::size_t{1} << 31) + (std::size_t{160} << 20) + 4;
    constexpr std::size_t items = size / 4;
    const auto program = build(
        "__kernel void number(__global uint* data) { data[get_global_id(0)] = get_global_id(0); }"
        "__kernel void add(__global uint* data, uint value) { data[get_global_id(0)] += value; }");
    const auto number = kernel_of(program, "number");
    const auto add = kernel_of(program, "add");
    const auto buffer = new_buffer(size);
    auto* const raw = buffer.get();
    ASSERT_EQ(clSetKernelArg(number.get(), 0, sizeof raw, &raw), CL_SUCCESS);
    ASSERT_EQ(clEnqueueNDRangeKernel(queue(), number.get(), 1, nullptr, &items, nullptr, 0, nullptr, nullptr),
              CL_SUCCESS);
    launch(last_queue(), add, buffer, 3, items);
    const auto values = read(last_queue(), buffer, items);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < items; ++i) wrong += values[i] != static_cast<cl_uint>(i) + 3 ? 1 : 0;
    EXPECT_EQ(wrong, 0U);
}

} // namespace
