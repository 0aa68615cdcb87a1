// SPDX-License-Identifier: Apache-2.0
// What callbacks of events may ask, on each rank by itself.
#include "platform_fixture.hpp"

#include <array>
#include <chrono>
#include <future>

using namespace support;

namespace {

using callbacks = platform_test;

struct answers {
    cl_int status_code = -1, status = CL_QUEUED;
    std::array<cl_int, 4> time_codes{-1, -1, -1, -1};
    std::array<cl_ulong, 4> times{};
};

answers ask(cl_event event) {
    answers got;
    got.status_code = clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof got.status, &got.status, nullptr);
    for (cl_profiling_info i = 0; i < 4; ++i)
        got.time_codes[i] = clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_QUEUED + i, sizeof got.times[i],
                                                    &got.times[i], nullptr);
    return got;
}

void CL_CALLBACK ask_and_tell(cl_event event, cl_int, void* data) {
    static_cast<std::promise<answers>*>(data)->set_value(ask(event));
}

/// Whether the event's callback gets the answers that the program gets.
void expect_same_answers(cl_event event, const char* what) {
    std::promise<answers> promise;
    auto told = promise.get_future();
    ASSERT_EQ(clSetEventCallback(event, CL_COMPLETE, ask_and_tell, &promise), CL_SUCCESS);
    ASSERT_EQ(told.wait_for(std::chrono::seconds(30)), std::future_status::ready) << what;
    const auto in_callback = told.get();
    ASSERT_EQ(clWaitForEvents(1, &event), CL_SUCCESS);
    const auto here = ask(event);
    for (const auto& got : {in_callback, here}) {
        EXPECT_EQ(got.status_code, CL_SUCCESS) << what;
        EXPECT_EQ(got.status, CL_COMPLETE) << what;
        EXPECT_EQ(got.time_codes, (std::array<cl_int, 4>{})) << what;
    }
    EXPECT_EQ(in_callback.times, here.times) << what;
}

TEST_F(callbacks, ask_about_the_command_that_is_over) {
    constexpr std::size_t size = 1 << 20;
    const auto buffer = new_buffer(size);
    bytes back(size);
    for (std::size_t device = 0; device < devices().size(); ++device) {
        auto* const on = queue(device);
        const cl_uint one = 1;
        event_handle filled, read;
        ASSERT_EQ(clEnqueueFillBuffer(on, buffer.get(), &one, 4, 0, size, 0, nullptr, filled.out()), CL_SUCCESS);
        ASSERT_EQ(clFlush(on), CL_SUCCESS);
        expect_same_answers(filled.get(), "a fill");
        ASSERT_EQ(clEnqueueReadBuffer(on, buffer.get(), CL_FALSE, 0, size, back.data(), 0, nullptr, read.out()),
                  CL_SUCCESS);
        ASSERT_EQ(clFlush(on), CL_SUCCESS);
        expect_same_answers(read.get(), "a read");
        // One that another rank waits for, too.
        event_handle before, after;
        ASSERT_EQ(clEnqueueFillBuffer(on, buffer.get(), &one, 4, 0, size, 0, nullptr, before.out()), CL_SUCCESS);
        const std::vector waits{before.get()};
        ASSERT_EQ(clEnqueueMarkerWithWaitList(queue((device + 1) % devices().size()), 1, waits.data(), after.out()),
                  CL_SUCCESS);
        ASSERT_EQ(clFlush(on), CL_SUCCESS);
        expect_same_answers(before.get(), "a fill that others wait for");
        ASSERT_EQ(clWaitForEvents(1, std::vector{after.get()}.data()), CL_SUCCESS);
    }
}

} // namespace
