// SPDX-License-Identifier: Apache-2.0
// Commands of an out-of-order queue that wait keep back nothing that does not wait for them, whatever the driver would
// do: NVIDIA's (580) lets nothing pass a command that waits.
#include "platform_fixture.hpp"

using namespace support;

namespace {

using passing = platform_test;

constexpr std::size_t many = 1024;

} // namespace

TEST_F(passing, commands_of_an_out_of_order_queue_pass_those_that_wait) {
    for (std::size_t device = 0; device < devices().size(); ++device) {
        SCOPED_TRACE(device);
        const auto on = new_queue(devices()[device], CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
        const auto late = new_buffer(many), early = new_buffer(many);
        const auto gate = new_user_event();
        const cl_uchar three = 3, four = 4, five = 5;
        auto* const gated = gate.get();
        event_handle first, second, free;
        ASSERT_EQ(clEnqueueFillBuffer(on.get(), late.get(), &three, 1, 0, many, 1, &gated, first.out()), CL_SUCCESS);
        auto* const behind = first.get();
        ASSERT_EQ(clEnqueueFillBuffer(on.get(), late.get(), &four, 1, 0, many / 2, 1, &behind, second.out()),
                  CL_SUCCESS);
        ASSERT_EQ(clEnqueueFillBuffer(on.get(), early.get(), &five, 1, 0, many, 0, nullptr, free.out()), CL_SUCCESS);
        auto* const awaited = free.get();
        EXPECT_EQ(clWaitForEvents(1, &awaited), CL_SUCCESS);
        std::vector<cl_uchar> bytes(many);
        EXPECT_EQ(clEnqueueReadBuffer(on.get(), early.get(), CL_TRUE, 0, many, bytes.data(), 0, nullptr, nullptr),
                  CL_SUCCESS);
        EXPECT_EQ(bytes, std::vector<cl_uchar>(many, five));
        cl_int status = CL_COMPLETE;
        ASSERT_EQ(clGetEventInfo(second.get(), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr),
                  CL_SUCCESS);
        EXPECT_GT(status, CL_COMPLETE);
        ASSERT_EQ(clSetUserEventStatus(gate.get(), CL_COMPLETE), CL_SUCCESS);
        ASSERT_EQ(clFinish(on.get()), CL_SUCCESS);
        ASSERT_EQ(clEnqueueReadBuffer(on.get(), late.get(), CL_TRUE, 0, many, bytes.data(), 0, nullptr, nullptr),
                  CL_SUCCESS);
        EXPECT_EQ(bytes.front(), four);
        EXPECT_EQ(bytes.back(), three);
    }
}
