// SPDX-License-Identifier: Apache-2.0
// Objects that the program gives back while commands still use them.
#include "platform_fixture.hpp"

#include <CL/cl_cluster.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

using namespace support;

namespace {

using lifetimes = platform_test;

TEST_F(lifetimes, a_mapped_buffer_may_be_released_before_its_unmapping_is_over) {
    constexpr std::size_t large = 16 << 20;
    const auto program = build(slow_source);
    const auto slow = kernel_of(program, "slow");
    const auto other = new_buffer(4);
    const auto target = new_buffer(large);
    const auto gate = new_user_event();
    auto buffer = new_buffer(large);
    cl_int code = CL_SUCCESS;
    // What waits for a user event cannot be mapped by a driver: a shadow stands for the contents.
    auto* const values = static_cast<cl_uint*>(clEnqueueMapBuffer(queue(), buffer.get(), CL_FALSE,
                                                                  CL_MAP_READ | CL_MAP_WRITE, 0, large, 1,
                                                                  std::vector{gate.get()}.data(), nullptr, &code));
    ASSERT_EQ(code, CL_SUCCESS);
    ASSERT_EQ(clSetUserEventStatus(gate.get(), CL_COMPLETE), CL_SUCCESS);
    ASSERT_EQ(clFinish(queue()), CL_SUCCESS);
    std::fill_n(values, large / 4, 7U);
    launch(queue(), slow, other, 50'000'000, 1);
    ASSERT_EQ(clEnqueueUnmapMemObject(queue(), buffer.get(), values, 0, nullptr, nullptr), CL_SUCCESS);
    ASSERT_EQ(clEnqueueCopyBuffer(queue(), buffer.get(), target.get(), 0, 0, large, 0, nullptr, nullptr), CL_SUCCESS);
    buffer.release();
    const std::vector<cl_uint> in_its_place(large / 4, 9);
    const auto result = read(queue(), target, large / 4);
    EXPECT_EQ(std::count(result.begin(), result.end(), 7U), static_cast<std::ptrdiff_t>(large / 4));
}

struct farewell {
    cl_event other;
    std::atomic<bool> called{false};
};

void CL_CALLBACK on_end(cl_event, cl_int, void*) {}

void CL_CALLBACK say_farewell(cl_context, void* data) {
    auto& how = *static_cast<farewell*>(data);
    EXPECT_EQ(clSetEventCallback(how.other, CL_COMPLETE, on_end, nullptr), CL_SUCCESS);
    how.called = true;
}

TEST_F(lifetimes, a_context_whose_last_command_ends_calls_the_program_which_may_call_back) {
    cl_int code = CL_SUCCESS;
    const auto other = new_user_event();
    farewell how{other.get()};
    {
        const context_handle own(clCreateContext(nullptr, 1, devices().data(), nullptr, nullptr, &code));
        ASSERT_EQ(code, CL_SUCCESS);
        const auto
            set = reinterpret_cast<cl_int(CL_API_CALL*)(cl_context, void(CL_CALLBACK*)(cl_context, void*), void*)>(
                clGetExtensionFunctionAddressForPlatform(platform(), "clSetContextDestructorCallback"));
        ASSERT_NE(set, nullptr);
        ASSERT_EQ(set(own.get(), say_farewell, &how), CL_SUCCESS);
        const event_handle gate(clCreateUserEvent(own.get(), &code));
        const queue_handle on(clCreateCommandQueue(own.get(), devices().front(), 0, &code));
        event_handle marker;
        ASSERT_EQ(clEnqueueMarkerWithWaitList(on.get(), 1, std::vector{gate.get()}.data(), marker.out()), CL_SUCCESS);
        ASSERT_EQ(clSetEventCallback(marker.get(), CL_COMPLETE, on_end, nullptr), CL_SUCCESS);
        ASSERT_EQ(clSetUserEventStatus(gate.get(), CL_COMPLETE), CL_SUCCESS);
    }
    while (!how.called) std::this_thread::yield();
    ASSERT_EQ(clSetUserEventStatus(other.get(), CL_COMPLETE), CL_SUCCESS);
}

void CL_CALLBACK on_farewell(cl_context context, void* data) {
    // It cannot be brought back.
    EXPECT_EQ(clRetainContext(context), CL_INVALID_CONTEXT);
    EXPECT_EQ(clReleaseContext(context), CL_INVALID_CONTEXT);
    *static_cast<std::atomic<bool>*>(data) = true;
}

TEST_F(lifetimes, a_context_ends_with_a_collective_that_waited_longer_than_the_program) {
    std::atomic<bool> over{false};
    cl_int code = CL_SUCCESS;
    event_handle gate;
    {
        const auto count = static_cast<cl_uint>(devices().size());
        const context_handle own(clCreateContext(nullptr, count, devices().data(), nullptr, nullptr, &code));
        ASSERT_EQ(code, CL_SUCCESS);
        const auto
            set = reinterpret_cast<cl_int(CL_API_CALL*)(cl_context, void(CL_CALLBACK*)(cl_context, void*), void*)>(
                clGetExtensionFunctionAddressForPlatform(platform(), "clSetContextDestructorCallback"));
        ASSERT_EQ(set(own.get(), on_farewell, &over), CL_SUCCESS);
        *gate.out() = clCreateUserEvent(own.get(), &code);
        std::vector<queue_handle> queues;
        std::vector<buffer_handle> buffers;
        std::vector<cl_command_queue> queue_list;
        std::vector<cl_mem> sources, targets;
        for (auto* const device : devices()) {
            queues.emplace_back(clCreateCommandQueue(own.get(), device, 0, &code));
            queue_list.push_back(queues.back().get());
            for (auto* const list : {&sources, &targets}) {
                buffers.emplace_back(clCreateBuffer(own.get(), CL_MEM_READ_WRITE, 64, nullptr, &code));
                list->push_back(buffers.back().get());
            }
            const cl_uint one = 1;
            ASSERT_EQ(clEnqueueFillBuffer(queue_list.back(), sources.back(), &one, 4, 0, 64, 0, nullptr, nullptr),
                      CL_SUCCESS);
        }
        ASSERT_EQ(clEnqueueAllReduceBuffer(queue_list.data(), count, sources.data(), targets.data(), nullptr, nullptr,
                                           64, CL_UNSIGNED_INT32, 1, std::vector{gate.get()}.data(), nullptr),
                  CL_SUCCESS);
    }
    ASSERT_EQ(clSetUserEventStatus(gate.get(), CL_COMPLETE), CL_SUCCESS);
    gate.release();
    for (int i = 0; i < 10'000 && !over; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_TRUE(over);
}

template <class Value, class Ask> Value answer(Ask ask) {
    Value value{};
    EXPECT_EQ(ask(sizeof value, &value, nullptr), CL_SUCCESS);
    return value;
}

TEST_F(lifetimes, what_an_object_still_holds_may_be_named_and_retained_again) {
    cl_int code = CL_SUCCESS;
    const context_handle own(clCreateContext(nullptr, 1, devices().data(), nullptr, nullptr, &code));
    ASSERT_EQ(code, CL_SUCCESS);
    const queue_handle on(clCreateCommandQueue(own.get(), devices().front(), 0, &code));
    ASSERT_EQ(clReleaseContext(own.get()), CL_SUCCESS);
    auto* const context = answer<cl_context>(
        [&](auto... to) { return clGetCommandQueueInfo(on.get(), CL_QUEUE_CONTEXT, to...); });
    ASSERT_EQ(context, own.get());
    EXPECT_EQ(clReleaseContext(context), CL_INVALID_CONTEXT) << "the program has no reference left";
    EXPECT_EQ(answer<cl_uint>([&](auto... to) { return clGetContextInfo(context, CL_CONTEXT_REFERENCE_COUNT, to...); }),
              0U);
    const buffer_handle whole(clCreateBuffer(context, CL_MEM_READ_WRITE, 64, nullptr, &code));
    ASSERT_EQ(code, CL_SUCCESS);
    const cl_buffer_region region{0, 16};
    const buffer_handle part(clCreateSubBuffer(whole.get(), 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code));
    ASSERT_EQ(code, CL_SUCCESS);
    ASSERT_EQ(clReleaseMemObject(whole.get()), CL_SUCCESS);
    const char* source = add_source;
    const program_handle program(clCreateProgramWithSource(context, 1, &source, nullptr, &code));
    ASSERT_EQ(clBuildProgram(program.get(), 0, nullptr, "", nullptr, nullptr), CL_SUCCESS);
    const auto add = kernel_of(program, "add");
    ASSERT_EQ(clReleaseProgram(program.get()), CL_SUCCESS);
    const cl_uint seven = 7;
    event_handle filled;
    auto* const held = answer<cl_mem>(
        [&](auto... to) { return clGetMemObjectInfo(part.get(), CL_MEM_ASSOCIATED_MEMOBJECT, to...); });
    ASSERT_EQ(clEnqueueFillBuffer(on.get(), held, &seven, 4, 0, 64, 0, nullptr, filled.out()), CL_SUCCESS);
    ASSERT_EQ(clReleaseCommandQueue(on.get()), CL_SUCCESS);
    auto* const queue = answer<cl_command_queue>(
        [&](auto... to) { return clGetEventInfo(filled.get(), CL_EVENT_COMMAND_QUEUE, to...); });
    launch(queue, add, part, 2, 4);
    std::vector<cl_uint> back(16);
    ASSERT_EQ(clEnqueueReadBuffer(queue, held, CL_TRUE, 0, 64, back.data(), 0, nullptr, nullptr), CL_SUCCESS);
    EXPECT_EQ(back, (std::vector<cl_uint>{9, 9, 9, 9, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7}));
    EXPECT_EQ(clFinish(queue), CL_SUCCESS);
    // The handles of this test let go of them once more.
    EXPECT_EQ(clRetainCommandQueue(queue), CL_SUCCESS);
    EXPECT_EQ(clRetainMemObject(held), CL_SUCCESS);
    EXPECT_EQ(clRetainContext(context), CL_SUCCESS);
    EXPECT_EQ(clRetainProgram(
                  answer<cl_program>([&](auto... to) { return clGetKernelInfo(add.get(), CL_KERNEL_PROGRAM, to...); })),
              CL_SUCCESS);
}

TEST_F(lifetimes, parts_live_with_their_context) {
    const cl_device_partition_property one_each[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
    cl_uint count = 0;
    if (clCreateSubDevices(devices().front(), one_each, 0, nullptr, &count) != CL_SUCCESS || count == 0)
        GTEST_SKIP() << "a device that cannot be divided";
    std::vector<cl_device_id> parts(count);
    ASSERT_EQ(clCreateSubDevices(devices().front(), one_each, count, parts.data(), nullptr), CL_SUCCESS);
    cl_int code = CL_SUCCESS;
    const context_handle own(clCreateContext(nullptr, count, parts.data(), nullptr, nullptr, &code));
    ASSERT_EQ(code, CL_SUCCESS);
    for (auto* const part : parts) ASSERT_EQ(clReleaseDevice(part), CL_SUCCESS);
    std::vector<cl_device_id> named(count);
    ASSERT_EQ(clGetContextInfo(own.get(), CL_CONTEXT_DEVICES, count * sizeof(cl_device_id), named.data(), nullptr),
              CL_SUCCESS);
    const queue_handle on(clCreateCommandQueue(own.get(), named.back(), 0, &code));
    EXPECT_EQ(code, CL_SUCCESS);
    EXPECT_EQ(clReleaseDevice(named.back()), CL_INVALID_DEVICE);
    EXPECT_EQ(clRetainDevice(named.back()), CL_SUCCESS);
    EXPECT_EQ(clReleaseDevice(named.back()), CL_SUCCESS);
}

struct asked {
    std::atomic<bool> called{false};
    cl_int code = 1, retained = 1, released = 1;
    cl_command_type type = 0;
};

void CL_CALLBACK ask_about(cl_event event, cl_int, void* data) {
    auto& to = *static_cast<asked*>(data);
    to.code = clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof to.type, &to.type, nullptr);
    to.retained = clRetainEvent(event);
    to.released = clReleaseEvent(event);
    to.called = true;
}

TEST_F(lifetimes, an_event_that_was_released_may_be_named_in_its_callback) {
    for (std::size_t i = 0; i < devices().size(); ++i) {
        const auto gate = new_user_event();
        asked to;
        {
            event_handle marker;
            ASSERT_EQ(clEnqueueMarkerWithWaitList(queue(i), 1, std::vector{gate.get()}.data(), marker.out()),
                      CL_SUCCESS);
            ASSERT_EQ(clSetEventCallback(marker.get(), CL_COMPLETE, ask_about, &to), CL_SUCCESS);
        }
        ASSERT_EQ(clSetUserEventStatus(gate.get(), CL_COMPLETE), CL_SUCCESS);
        while (!to.called) std::this_thread::yield();
        EXPECT_EQ(to.code, CL_SUCCESS);
        EXPECT_EQ(to.type, static_cast<cl_command_type>(CL_COMMAND_MARKER));
        EXPECT_EQ(to.retained, CL_SUCCESS);
        EXPECT_EQ(to.released, CL_SUCCESS);
    }
}

TEST_F(lifetimes, references_come_and_go_in_threads_while_another_object_holds) {
    const auto program = build(add_source);
    const auto add = kernel_of(program, "add");
    ASSERT_EQ(clReleaseProgram(program.get()), CL_SUCCESS);
    std::vector<std::thread> threads;
    std::atomic<int> refused{0};
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&] {
            for (int round = 0; round < 2000; ++round)
                if (clRetainProgram(program.get()) != CL_SUCCESS || clReleaseProgram(program.get()) != CL_SUCCESS)
                    ++refused;
        });
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(refused, 0);
    EXPECT_EQ(clRetainProgram(program.get()), CL_SUCCESS); // for the handle of this test
}

} // namespace
