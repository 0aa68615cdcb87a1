// SPDX-License-Identifier: Apache-2.0
// What callbacks of events may ask, on each rank by itself.
#include "platform_fixture.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <future>
#include <string_view>
#include <thread>

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

bool is_first_rank() {
    const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
    if (rank == nullptr) rank = std::getenv("PMI_RANK");
    return rank == nullptr || std::string_view(rank) == "0";
}

void CL_CALLBACK count_end(cl_event, cl_int status, void* data) {
    if (status == CL_COMPLETE) ++*static_cast<std::atomic<int>*>(data);
}

void wait_until(const std::atomic<int>& count, int all) {
    for (int i = 0; i < 60'000 && count < all; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_EQ(count, all);
}

TEST_F(callbacks, are_set_beside_the_program_before_other_calls_on_one_rank_and_behind_them_on_another) {
    constexpr int count = 40;
    std::vector<buffer_handle> buffers;
    std::vector<event_handle> filled(count);
    const auto on = [&](int i) { return queue(static_cast<std::size_t>(i) % devices().size()); };
    for (int i = 0; i < count; ++i) {
        buffers.push_back(new_buffer(64));
        const auto value = static_cast<cl_uint>(i);
        ASSERT_EQ(clEnqueueFillBuffer(on(i), buffers.back().get(), &value, 4, 0, 64, 0, nullptr, filled[i].out()),
                  CL_SUCCESS);
    }
    std::atomic<int> ended{0};
    const auto set_all = [&] {
        std::thread([&] {
            for (const auto& each : filled)
                EXPECT_EQ(clSetEventCallback(each.get(), CL_COMPLETE, count_end, &ended), CL_SUCCESS);
        }).join();
    };
    if (is_first_rank()) set_all();
    for (int i = 0; i < count; ++i)
        EXPECT_EQ(read(on(i), buffers[static_cast<std::size_t>(i)], 16), std::vector(16, static_cast<cl_uint>(i)));
    if (!is_first_rank()) set_all();
    wait_until(ended, count);
}

struct two_events {
    cl_event other;
    std::atomic<int> ended{0};
};

void CL_CALLBACK set_another(cl_event, cl_int, void* data) {
    auto& both = *static_cast<two_events*>(data);
    EXPECT_EQ(clSetEventCallback(both.other, CL_COMPLETE, count_end, &both.ended), CL_SUCCESS);
}

TEST_F(callbacks, may_be_set_in_a_callback) {
    for (std::size_t device = 0; device < devices().size(); ++device) {
        const auto buffer = new_buffer(64);
        const auto gate = new_user_event();
        const cl_uint one = 1;
        event_handle first, second;
        ASSERT_EQ(clEnqueueFillBuffer(queue(device), buffer.get(), &one, 4, 0, 64, 1, std::vector{gate.get()}.data(),
                                      first.out()),
                  CL_SUCCESS);
        ASSERT_EQ(clEnqueueFillBuffer(queue(device), buffer.get(), &one, 4, 0, 64, 0, nullptr, second.out()),
                  CL_SUCCESS);
        two_events both{second.get()};
        ASSERT_EQ(clSetEventCallback(first.get(), CL_COMPLETE, set_another, &both), CL_SUCCESS);
        ASSERT_EQ(clSetUserEventStatus(gate.get(), CL_COMPLETE), CL_SUCCESS);
        ASSERT_EQ(clFinish(queue(device)), CL_SUCCESS);
        wait_until(both.ended, 1);
    }
}

} // namespace
