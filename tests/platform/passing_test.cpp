// SPDX-License-Identifier: Apache-2.0
// Commands of an out-of-order queue that wait keep back nothing that does not wait for them, whatever the driver would
// do: NVIDIA's (580) lets nothing pass a command that waits.
#include "platform_fixture.hpp"

#include <chrono>
#include <cstdlib>
#include <dlfcn.h>
#include <future>

using namespace support;

namespace {

using passing = platform_test;

/// A native kernel that a driver has and that runs until it is let go.
struct long_command {
    std::promise<void> begun, end;
    static void CL_CALLBACK run(void* data) {
        auto& self = **static_cast<long_command**>(data);
        self.begun.set_value();
        self.end.get_future().wait();
    }
};

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

TEST_F(passing, commands_of_an_out_of_order_queue_pass_those_that_wait_for_their_driver) {
    if (std::getenv("CAUSEWAY_CLUSTER") != nullptr)
        GTEST_SKIP() << "a native kernel that waits for its program stops other ranks' as well";
    std::size_t tried = 0;
    for (std::size_t device = 0; device < devices().size(); ++device) {
        SCOPED_TRACE(device);
        const auto on = new_queue(devices()[device], CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
        const auto late = new_buffer(many), early = new_buffer(many);
        long_command running;
        auto* argument = &running;
        event_handle long_one, behind, free;
        if (clEnqueueNativeKernel(queue(device), long_command::run, &argument, sizeof argument, 0, nullptr, nullptr, 0,
                                  nullptr, long_one.out()) != CL_SUCCESS)
            continue;
        ASSERT_EQ(clFlush(queue(device)), CL_SUCCESS);
        running.begun.get_future().wait();
        const cl_uchar three = 3, five = 5;
        const auto is_over_soon = [](cl_event event, std::chrono::seconds longest) {
            const auto passed = std::make_shared<std::promise<void>>();
            auto* const told = new std::shared_ptr<std::promise<void>>(passed);
            const auto code = clSetEventCallback(
                event, CL_COMPLETE,
                [](cl_event, cl_int, void* data) {
                    const std::unique_ptr<std::shared_ptr<std::promise<void>>> mine(
                        static_cast<std::shared_ptr<std::promise<void>>*>(data));
                    (*mine)->set_value();
                },
                told);
            return code == CL_SUCCESS && passed->get_future().wait_for(longest) == std::future_status::ready;
        };
        // Some drivers run nothing beside a native kernel where processors are two (Intel 2026): nothing can pass
        // there.
        event_handle beside;
        ASSERT_EQ(clEnqueueFillBuffer(on.get(), early.get(), &three, 1, 0, many, 0, nullptr, beside.out()), CL_SUCCESS);
        ASSERT_EQ(clFlush(on.get()), CL_SUCCESS);
        if (!is_over_soon(beside.get(), std::chrono::seconds(3))) {
            running.end.set_value();
            ASSERT_EQ(clFinish(on.get()), CL_SUCCESS);
            ASSERT_EQ(clFinish(queue(device)), CL_SUCCESS);
            continue;
        }
        ++tried;
        auto* const awaited = long_one.get();
        ASSERT_EQ(clEnqueueFillBuffer(on.get(), late.get(), &three, 1, 0, many, 1, &awaited, behind.out()), CL_SUCCESS);
        ASSERT_EQ(clEnqueueFillBuffer(on.get(), early.get(), &five, 1, 0, many, 0, nullptr, free.out()), CL_SUCCESS);
        ASSERT_EQ(clFlush(on.get()), CL_SUCCESS);
        EXPECT_TRUE(is_over_soon(free.get(), std::chrono::seconds(10)));
        running.end.set_value();
        ASSERT_EQ(clFinish(on.get()), CL_SUCCESS);
        std::vector<cl_uchar> bytes(many);
        ASSERT_EQ(clEnqueueReadBuffer(on.get(), late.get(), CL_TRUE, 0, many, bytes.data(), 0, nullptr, nullptr),
                  CL_SUCCESS);
        EXPECT_EQ(bytes, std::vector<cl_uchar>(many, three));
    }
    if (tried == 0) GTEST_SKIP() << "no driver here runs a command beside a native kernel";
}

TEST_F(passing, commands_that_wait_for_one_event_have_its_driver_asked_once_for_all) {
    void* const counter = dlsym(RTLD_DEFAULT, "questions_for_events");
    if (counter == nullptr) GTEST_SKIP() << "nobody counts what drivers are asked (support/orderly_driver.c)";
    const auto questions = reinterpret_cast<unsigned long (*)()>(counter);
    constexpr int waiting = 1000, rounds = 50;
    const auto on = new_queue(devices()[0], CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    const auto other = new_queue(devices()[0], CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    const auto buffer = new_buffer(many), beside = new_buffer(many);
    long_command running;
    auto* argument = &running;
    event_handle long_one;
    ASSERT_EQ(clEnqueueNativeKernel(queue(), long_command::run, &argument, sizeof argument, 0, nullptr, nullptr, 0,
                                    nullptr, long_one.out()),
              CL_SUCCESS);
    ASSERT_EQ(clFlush(queue()), CL_SUCCESS);
    running.begun.get_future().wait();
    const auto before = questions();
    const cl_uchar three = 3;
    auto* const awaited = long_one.get();
    for (int i = 0; i < waiting; ++i)
        ASSERT_EQ(clEnqueueFillBuffer(on.get(), buffer.get(), &three, 1, 0, many, 1, &awaited, nullptr), CL_SUCCESS);
    // Each of these goes through a round of looks at all that waits.
    for (int i = 0; i < rounds; ++i) {
        const auto gate = new_user_event();
        auto* const gated = gate.get();
        event_handle free;
        ASSERT_EQ(clEnqueueFillBuffer(other.get(), beside.get(), &three, 1, 0, many, 1, &gated, free.out()),
                  CL_SUCCESS);
        ASSERT_EQ(clSetUserEventStatus(gate.get(), CL_COMPLETE), CL_SUCCESS);
        auto* const freed = free.get();
        ASSERT_EQ(clWaitForEvents(1, &freed), CL_SUCCESS);
    }
    EXPECT_LT(questions() - before, 10UL * waiting); // with one for each that waits, more than 50,000
    running.end.set_value();
    ASSERT_EQ(clFinish(on.get()), CL_SUCCESS);
    std::vector<cl_uchar> bytes(many);
    ASSERT_EQ(clEnqueueReadBuffer(on.get(), buffer.get(), CL_TRUE, 0, many, bytes.data(), 0, nullptr, nullptr),
              CL_SUCCESS);
    EXPECT_EQ(bytes, std::vector<cl_uchar>(many, three));
}
