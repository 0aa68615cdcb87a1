// SPDX-License-Identifier: Apache-2.0
// Tasks and OpenCL's events wait for one another, on each device found.
#include <causeway/tasks_opencl.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

struct device_scene : testing::Test {
    void SetUp() override {
        cl_platform_id platform = nullptr;
        ASSERT_EQ(clGetPlatformIDs(1, &platform, nullptr), CL_SUCCESS) << "no OpenCL";
        ASSERT_EQ(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr), CL_SUCCESS);
        cl_int code = CL_SUCCESS;
        context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code);
        ASSERT_EQ(code, CL_SUCCESS);
        queue = clCreateCommandQueue(context, device, 0, &code);
        ASSERT_EQ(code, CL_SUCCESS);
        buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof values, nullptr, &code);
        ASSERT_EQ(code, CL_SUCCESS);
    }
    void TearDown() override {
        if (buffer) clReleaseMemObject(buffer);
        if (queue) clReleaseCommandQueue(queue);
        if (context) clReleaseContext(context);
    }
    cl_device_id device = nullptr;
    cl_context context = nullptr;
    cl_command_queue queue = nullptr;
    cl_mem buffer = nullptr;
    std::array<int, 1000> values{};
    causeway::task_pool pool{{.threads = 2}};
};

TEST_F(device_scene, commands_and_tasks_alternate_in_one_chain) {
    causeway::event_bridge bridge;
    causeway::task_group group(pool);
    std::array<int, 1000> back{};
    // task -> write -> read -> task, five times; nobody waits in between.
    cl_event before = nullptr;
    for (int round = 0; round < 5; ++round) {
        const auto region = causeway::inout(values.data(), values.size());
        const auto fill = [&, round] {
            for (auto& each : values) each = 2 * each + round;
        };
        cl_event filled = nullptr;
        if (before) {
            cl_int code = CL_SUCCESS;
            filled = clCreateUserEvent(context, &code);
            ASSERT_EQ(code, CL_SUCCESS);
            bridge.spawn_after(group, {&before, 1},
                               [&, fill, filled] {
                                   EXPECT_EQ(back, values) << "what was read is what was written";
                                   fill();
                                   clSetUserEventStatus(filled, CL_COMPLETE);
                               },
                               {&region, 1});
            clReleaseEvent(before);
        } else {
            filled = causeway::event_bridge::spawn_event(group, context, fill, {&region, 1});
        }
        cl_event written = nullptr;
        ASSERT_EQ(clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, sizeof values, values.data(), 1, &filled, &written),
                  CL_SUCCESS);
        ASSERT_EQ(clEnqueueReadBuffer(queue, buffer, CL_FALSE, 0, sizeof back, back.data(), 1, &written, &before),
                  CL_SUCCESS);
        clFlush(queue);
        clReleaseEvent(written);
        if (round == 0) group.wait(); // a program's thread runs the first task; the others run on the pool's
    }
    int last = 0;
    bridge.spawn_after(group, {&before, 1}, [&] { last = back[999]; });
    clReleaseEvent(before);
    group.wait();
    EXPECT_EQ(last, 26) << "0, 1, 4, 11, 26";
}

TEST_F(device_scene, a_failed_event_fails_the_group) {
    causeway::event_bridge bridge;
    causeway::task_group group(pool);
    cl_int code = CL_SUCCESS;
    const cl_event event = clCreateUserEvent(context, &code);
    ASSERT_EQ(code, CL_SUCCESS);
    std::atomic<bool> ran{false};
    bridge.spawn_after(group, {&event, 1}, [&] { ran = true; });
    clSetUserEventStatus(event, -77);
    try {
        group.wait();
        FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
        EXPECT_NE(std::string(error.what()).find("-77"), std::string::npos) << error.what();
    }
    EXPECT_FALSE(ran);
    clReleaseEvent(event);
}

TEST_F(device_scene, an_event_of_a_task_that_throws_or_is_cancelled_fails) {
    causeway::task_group group(pool);
    const auto status_of = [](cl_event event) {
        cl_int status = 1;
        clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
        return status;
    };
    int order = 0;
    const auto region = causeway::inout(&order);
    const cl_event thrown = causeway::event_bridge::spawn_event(group, context, [] { throw std::runtime_error("no"); },
                                                                {&region, 1});
    const cl_event behind = causeway::event_bridge::spawn_event(group, context, [] {}, {&region, 1});
    EXPECT_THROW(group.wait(), std::runtime_error);
    EXPECT_EQ(status_of(thrown), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    EXPECT_EQ(status_of(behind), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    clReleaseEvent(thrown);
    clReleaseEvent(behind);
}

TEST_F(device_scene, a_bridge_that_ends_lets_its_tasks_fail) {
    cl_int code = CL_SUCCESS;
    const cl_event event = clCreateUserEvent(context, &code);
    ASSERT_EQ(code, CL_SUCCESS);
    causeway::task_group group(pool);
    {
        causeway::event_bridge bridge;
        bridge.spawn_after(group, {&event, 1}, [] { FAIL() << "its event is not complete"; });
    }
    EXPECT_THROW(group.wait(), std::runtime_error);
    clSetUserEventStatus(event, CL_COMPLETE);
    clReleaseEvent(event);
}

TEST_F(device_scene, a_device_has_a_part_for_each_node) {
    const auto parts = causeway::devices_of_nodes(device);
    ASSERT_FALSE(parts.empty());
    for (const auto each : parts) clReleaseDevice(each);
}

} // namespace
