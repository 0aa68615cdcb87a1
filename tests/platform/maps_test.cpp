// SPDX-License-Identifier: Apache-2.0
// Maps of one range in each other, vendors' flags, and threads that call one after the other.
#include "platform_fixture.hpp"

#include <algorithm>
#include <dlfcn.h>
#include <thread>

// Of OpenCL 2.0, whose names these tests' headers do not have.
extern "C" cl_command_queue CL_API_CALL clCreateCommandQueueWithProperties(cl_context, cl_device_id, const cl_bitfield*,
                                                                           cl_int*);

using namespace support;

namespace {

using maps = platform_test;

cl_uint* map(cl_command_queue on, const buffer_handle& buffer, cl_map_flags how) {
    cl_int code = CL_SUCCESS;
    auto* const mapped = static_cast<cl_uint*>(
        clEnqueueMapBuffer(on, buffer.get(), CL_TRUE, how, 0, 64, 0, nullptr, nullptr, &code));
    EXPECT_EQ(code, CL_SUCCESS);
    return mapped;
}

cl_uint count_of(const buffer_handle& buffer) {
    cl_uint count = 0;
    EXPECT_EQ(clGetMemObjectInfo(buffer.get(), CL_MEM_MAP_COUNT, sizeof count, &count, nullptr), CL_SUCCESS);
    return count;
}

TEST_F(maps, of_one_range_end_latest_first) {
    for (std::size_t i = 0; i < devices().size(); ++i) {
        std::vector<cl_uint> values(16, 1);
        const auto buffer = new_buffer(64, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, values.data());
        auto* const outer = map(queue(i), buffer, CL_MAP_READ);
        auto* const inner = map(queue(i), buffer, CL_MAP_READ | CL_MAP_WRITE);
        EXPECT_EQ(count_of(buffer), 2U);
        inner[3] = 7;
        ASSERT_EQ(clEnqueueUnmapMemObject(queue(i), buffer.get(), inner, 0, nullptr, nullptr), CL_SUCCESS);
        EXPECT_EQ(count_of(buffer), 1U);
        ASSERT_EQ(clFinish(queue(i)), CL_SUCCESS);
        values[3] = 7;
        EXPECT_EQ(read(last_queue(), buffer, 16), values);
        ASSERT_EQ(clEnqueueUnmapMemObject(queue(i), buffer.get(), outer, 0, nullptr, nullptr), CL_SUCCESS);
        EXPECT_EQ(count_of(buffer), 0U);
        EXPECT_EQ(clEnqueueUnmapMemObject(queue(i), buffer.get(), outer, 0, nullptr, nullptr), CL_INVALID_VALUE);
        // The other way round: the outer one writes.
        auto* const writes = map(queue(i), buffer, CL_MAP_READ | CL_MAP_WRITE);
        auto* const reads = map(queue(i), buffer, CL_MAP_READ);
        ASSERT_EQ(clEnqueueUnmapMemObject(queue(i), buffer.get(), reads, 0, nullptr, nullptr), CL_SUCCESS);
        writes[5] = 9;
        ASSERT_EQ(clEnqueueUnmapMemObject(queue(i), buffer.get(), writes, 0, nullptr, nullptr), CL_SUCCESS);
        ASSERT_EQ(clFinish(queue(i)), CL_SUCCESS);
        values[5] = 9;
        EXPECT_EQ(read(last_queue(), buffer, 16), values);
    }
}

TEST_F(maps, an_unmap_that_is_refused_leaves_the_map) {
    const auto buffer = new_buffer(64);
    auto* const mapped = map(queue(), buffer, CL_MAP_READ);
    const cl_event none = nullptr;
    EXPECT_EQ(clEnqueueUnmapMemObject(queue(), buffer.get(), mapped, 1, &none, nullptr), CL_INVALID_EVENT_WAIT_LIST);
    EXPECT_EQ(count_of(buffer), 1U);
    EXPECT_EQ(clEnqueueUnmapMemObject(queue(), buffer.get(), mapped, 0, nullptr, nullptr), CL_SUCCESS);
    EXPECT_EQ(clFinish(queue()), CL_SUCCESS);
}

TEST_F(maps, flags_that_only_advise_are_no_reason_to_refuse) {
    std::vector<cl_mem_flags> all{cl_mem_flags{3} << 16, cl_mem_flags{3} << 26};
    for (const int bit : {6, 16, 17, 18, 19, 20, 21, 22, 23, 26, 27}) all.push_back(cl_mem_flags{1} << bit);
    for (const auto advice : all) {
        const auto buffer = new_buffer(64, CL_MEM_READ_WRITE | advice);
        ASSERT_NE(buffer.get(), nullptr);
        cl_mem_flags flags = 0;
        EXPECT_EQ(clGetMemObjectInfo(buffer.get(), CL_MEM_FLAGS, sizeof flags, &flags, nullptr), CL_SUCCESS);
        EXPECT_EQ(flags, CL_MEM_READ_WRITE | advice);
        const std::vector<cl_uint> values(16, 3);
        for (std::size_t i = 0; i < devices().size(); ++i) {
            ASSERT_EQ(clEnqueueWriteBuffer(queue(i), buffer.get(), CL_TRUE, 0, 64, values.data(), 0, nullptr, nullptr),
                      CL_SUCCESS);
            EXPECT_EQ(read(queue(i), buffer, 16), values);
        }
        const cl_buffer_region half{0, 32};
        cl_int code = CL_SUCCESS;
        const buffer_handle part(
            clCreateSubBuffer(buffer.get(), CL_MEM_READ_ONLY, CL_BUFFER_CREATE_TYPE_REGION, &half, &code));
        EXPECT_EQ(code, CL_SUCCESS);
    }
}

TEST_F(maps, hints_of_queues_are_no_reason_to_refuse) {
    constexpr cl_bitfield priority = 0x1096, throttle = 0x1097, list_of_queue = 0x1098; // CL/cl_ext.h, CL/cl.h
    const auto make = [&](const std::vector<cl_bitfield>& list) {
        cl_int code = CL_SUCCESS;
        const queue_handle made(clCreateCommandQueueWithProperties(context(), devices().front(), list.data(), &code));
        EXPECT_EQ(made.get() != nullptr, code == CL_SUCCESS);
        if (made.get() == nullptr) return code;
        std::vector<cl_bitfield> told(list.size());
        EXPECT_EQ(clGetCommandQueueInfo(made.get(), list_of_queue, told.size() * sizeof told[0], told.data(), nullptr),
                  CL_SUCCESS);
        EXPECT_EQ(told, list);
        EXPECT_EQ(clEnqueueMarkerWithWaitList(made.get(), 0, nullptr, nullptr), CL_SUCCESS);
        EXPECT_EQ(clFinish(made.get()), CL_SUCCESS);
        return code;
    };
    EXPECT_EQ(make({priority, 1, throttle, 4, CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0}), CL_SUCCESS);
    EXPECT_EQ(make({priority, 3, 0}), CL_INVALID_VALUE) << "no value of the extension's";
    EXPECT_EQ(make({0x7777, 1, 0}), CL_INVALID_VALUE);
}

TEST_F(maps, flags_for_any_size_let_the_driver_say_which) {
    void* const counter = dlsym(RTLD_DEFAULT, "buffers_of_any_size");
    if (counter == nullptr) GTEST_SKIP() << "no driver that is known to take any size (support/driver_of_any_size.c)";
    const auto made = reinterpret_cast<unsigned long (*)()>(counter);
    ASSERT_FALSE(spans());
    cl_ulong largest = 0;
    for (auto* const device : devices()) {
        cl_ulong its = 0;
        ASSERT_EQ(clGetDeviceInfo(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof its, &its, nullptr), CL_SUCCESS);
        largest = std::max(largest, its);
    }
    const auto before = made();
    cl_int code = CL_SUCCESS;
    EXPECT_EQ(clCreateBuffer(context(), CL_MEM_READ_WRITE, largest + 1, nullptr, &code), nullptr);
    EXPECT_EQ(code, CL_INVALID_BUFFER_SIZE);
    const buffer_handle large(
        clCreateBuffer(context(), CL_MEM_READ_WRITE | cl_mem_flags{1} << 23, largest + 1, nullptr, &code));
    EXPECT_EQ(code, CL_SUCCESS);
    EXPECT_EQ(made() - before, 1U);
}

TEST_F(maps, flags_that_change_what_a_call_means_are_not_dropped) {
    // Shared virtual memory, who may use it, host pointers and physical memory of vendors, protected memory, one
    // unknown.
    for (const int bit : {10, 11, 24, 25, 28, 29, 30, 31, 36, 40}) {
        cl_int code = CL_SUCCESS;
        EXPECT_EQ(clCreateBuffer(context(), CL_MEM_READ_WRITE | cl_mem_flags{1} << bit, 64, nullptr, &code), nullptr);
        EXPECT_EQ(code, CL_INVALID_VALUE) << bit;
    }
}

TEST_F(maps, workers_may_call_one_after_the_other) {
    const auto buffer = new_buffer(64);
    for (cl_uint round = 1; round <= 8; ++round) {
        std::vector<cl_uint> found;
        const auto target = round % 2 != 0 ? last_queue() : queue();
        std::thread([&] {
            ASSERT_EQ(clEnqueueFillBuffer(target, buffer.get(), &round, sizeof round, 0, 64, 0, nullptr, nullptr),
                      CL_SUCCESS);
            ASSERT_EQ(clFinish(target), CL_SUCCESS);
            found = read(last_queue(), buffer, 16);
        }).join();
        EXPECT_EQ(found, std::vector<cl_uint>(16, round));
        EXPECT_EQ(read(queue(), buffer, 16), found);
    }
}

TEST_F(maps, another_worker_may_set_a_user_event) {
    for (int round = 0; round < 8; ++round) {
        const auto gate = new_user_event();
        event_handle over;
        const std::vector waits{gate.get()};
        ASSERT_EQ(clEnqueueMarkerWithWaitList(queue(), 1, waits.data(), over.out()), CL_SUCCESS);
        std::thread setter([&] { EXPECT_EQ(clSetUserEventStatus(gate.get(), CL_COMPLETE), CL_SUCCESS); });
        EXPECT_EQ(clWaitForEvents(1, std::vector{over.get()}.data()), CL_SUCCESS);
        setter.join();
        EXPECT_EQ(clFinish(queue()), CL_SUCCESS);
    }
}

TEST_F(maps, another_worker_may_wait_for_a_user_event) {
    for (int round = 0; round < 8; ++round) {
        const auto gate = new_user_event();
        std::thread waiter([&] { EXPECT_EQ(clWaitForEvents(1, std::vector{gate.get()}.data()), CL_SUCCESS); });
        const auto buffer = new_buffer(64);
        EXPECT_EQ(clFinish(queue()), CL_SUCCESS);
        EXPECT_EQ(clSetUserEventStatus(gate.get(), CL_COMPLETE), CL_SUCCESS);
        waiter.join();
    }
}

} // namespace
