// SPDX-License-Identifier: Apache-2.0
// Objects that the program gives back while commands still use them.
#include "platform_fixture.hpp"

#include <algorithm>
#include <atomic>
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
    auto* const values =
        static_cast<cl_uint*>(clEnqueueMapBuffer(queue(), buffer.get(), CL_FALSE, CL_MAP_READ | CL_MAP_WRITE, 0, large,
                                                 1, std::vector{gate.get()}.data(), nullptr, &code));
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
        const auto set =
            reinterpret_cast<cl_int(CL_API_CALL*)(cl_context, void(CL_CALLBACK*)(cl_context, void*), void*)>(
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

} // namespace
