// SPDX-License-Identifier: Apache-2.0
// Commands that a driver refuses: on all ranks alike, and nothing hangs.
#include "platform_fixture.hpp"

using namespace support;

namespace {

using refusals = platform_test;

TEST_F(refusals, a_kernel_that_takes_an_image_takes_no_buffer) {
    if (!all_have_images()) GTEST_SKIP() << "a device has no images";
    const auto program = build("__kernel void pick(__read_only image2d_t from, __global uint* to) {"
                               "    const sampler_t nearest = CLK_FILTER_NEAREST;"
                               "    to[0] = read_imageui(from, nearest, (int2)(0, 0)).x;"
                               "}");
    const auto pick = kernel_of(program, "pick");
    const auto buffer = new_buffer(64);
    const cl_image_format format{CL_RGBA, CL_UNSIGNED_INT8};
    cl_image_desc shape{};
    shape.image_type = CL_MEM_OBJECT_IMAGE2D;
    shape.image_width = shape.image_height = 4;
    cl_int code = CL_SUCCESS;
    const buffer_handle image(clCreateImage(context(), CL_MEM_READ_WRITE, &format, &shape, nullptr, &code));
    ASSERT_EQ(code, CL_SUCCESS);
    auto* const raw_buffer = buffer.get();
    auto* const raw_image = image.get();
    EXPECT_EQ(clSetKernelArg(pick.get(), 0, sizeof raw_buffer, &raw_buffer), CL_INVALID_MEM_OBJECT);
    EXPECT_EQ(clSetKernelArg(pick.get(), 0, sizeof raw_image, &raw_image), CL_SUCCESS);
    EXPECT_EQ(clSetKernelArg(pick.get(), 1, sizeof raw_buffer, &raw_buffer), CL_SUCCESS);
}

TEST_F(refusals, a_kernel_takes_no_image_that_it_may_not_read_or_may_not_write) {
    if (!all_have_images()) GTEST_SKIP() << "a device has no images";
    const auto program = build("__kernel void move(__read_only image2d_t from, __write_only image2d_t to) {"
                               "    const sampler_t nearest = CLK_FILTER_NEAREST;"
                               "    write_imageui(to, (int2)(0, 0), read_imageui(from, nearest, (int2)(0, 0)));"
                               "}");
    const auto kernel = kernel_of(program, "move");
    const cl_image_format format{CL_RGBA, CL_UNSIGNED_INT8};
    cl_image_desc shape{};
    shape.image_type = CL_MEM_OBJECT_IMAGE2D;
    shape.image_width = shape.image_height = 4;
    for (const cl_mem_flags flags : {CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY, CL_MEM_READ_WRITE}) {
        cl_int code = CL_SUCCESS;
        const buffer_handle image(clCreateImage(context(), flags, &format, &shape, nullptr, &code));
        ASSERT_EQ(code, CL_SUCCESS);
        auto* const raw = image.get();
        EXPECT_EQ(clSetKernelArg(kernel.get(), 0, sizeof raw, &raw),
                  flags == CL_MEM_WRITE_ONLY ? CL_INVALID_ARG_VALUE : CL_SUCCESS);
        EXPECT_EQ(clSetKernelArg(kernel.get(), 1, sizeof raw, &raw),
                  flags == CL_MEM_READ_ONLY ? CL_INVALID_ARG_VALUE : CL_SUCCESS);
    }
}

TEST_F(refusals, a_command_that_its_driver_refuses_fails_on_every_rank) {
    const auto program = build(
        "__kernel __attribute__((reqd_work_group_size(4, 1, 1))) void fours(__global uint* data) {"
        "    data[get_global_id(0)] = 4;"
        "}");
    const auto kernel = kernel_of(program, "fours");
    const bool in_cluster = std::getenv("CAUSEWAY_CLUSTER") != nullptr;
    for (std::size_t i = 0; i < devices().size(); ++i) {
        const std::vector<cl_uint> start(8, 1);
        const auto buffer = new_buffer(32);
        ASSERT_EQ(clEnqueueWriteBuffer(queue(i), buffer.get(), CL_TRUE, 0, 32, start.data(), 0, nullptr, nullptr),
                  CL_SUCCESS);
        auto* const raw = buffer.get();
        ASSERT_EQ(clSetKernelArg(kernel.get(), 0, sizeof raw, &raw), CL_SUCCESS);
        const std::size_t global = 8;
        const std::size_t wrong = 2;
        event_handle event;
        const auto code = clEnqueueNDRangeKernel(queue(i), kernel.get(), 1, nullptr, &global, &wrong, 0, nullptr,
                                                 event.out());
        if (in_cluster) {
            // The ranks do not ask one another at each command: the event says so, and clFinish.
            ASSERT_EQ(code, CL_SUCCESS);
            EXPECT_EQ(clWaitForEvents(1, std::vector{event.get()}.data()),
                      CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
            EXPECT_EQ(status_of(event.get()), CL_INVALID_WORK_GROUP_SIZE);
            EXPECT_EQ(clFinish(queue(i)), CL_INVALID_WORK_GROUP_SIZE);
        } else {
            EXPECT_EQ(code, CL_INVALID_WORK_GROUP_SIZE);
        }
        EXPECT_EQ(clFinish(queue(i)), CL_SUCCESS);
        EXPECT_EQ(read(last_queue(), buffer, 8), start);
        const std::size_t right = 4;
        EXPECT_EQ(clEnqueueNDRangeKernel(queue(i), kernel.get(), 1, nullptr, &global, &right, 0, nullptr, nullptr),
                  CL_SUCCESS);
        EXPECT_EQ(read(queue(i), buffer, 8), std::vector<cl_uint>(8, 4));
    }
}

TEST_F(refusals, what_has_failed_waits_for_no_user_event) {
    for (std::size_t i = 0; i < devices().size(); ++i) {
        const auto failed = new_user_event(), gate = new_user_event();
        ASSERT_EQ(clSetUserEventStatus(failed.get(), -7), CL_SUCCESS);
        const std::vector waits{gate.get(), failed.get()};
        const std::vector<cl_uint> start(8, 1);
        const auto buffer = new_buffer(32, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                       const_cast<cl_uint*>(start.data()));
        event_handle marker, write, later;
        ASSERT_EQ(clEnqueueMarkerWithWaitList(queue(i), 2, waits.data(), marker.out()), CL_SUCCESS);
        EXPECT_EQ(clFinish(queue(i)), CL_SUCCESS);
        EXPECT_EQ(
            clEnqueueWriteBuffer(queue(i), buffer.get(), CL_TRUE, 0, 4, waits.data(), 2, waits.data(), write.out()),
            CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
        EXPECT_EQ(status_of(marker.get()), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
        EXPECT_EQ(clWaitForEvents(1, std::vector{marker.get()}.data()), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
        const cl_uint two = 2;
        ASSERT_EQ(clEnqueueFillBuffer(queue(i), buffer.get(), &two, 4, 0, 4, 0, nullptr, later.out()), CL_SUCCESS);
        EXPECT_EQ(clWaitForEvents(1, std::vector{later.get()}.data()), CL_SUCCESS);
        // No list of its own, and not a read.
        cl_int code = CL_SUCCESS;
        const auto other = new_buffer(4);
        void* const place = clEnqueueMapBuffer(queue(i), other.get(), CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, 0, 4, 0,
                                               nullptr, nullptr, &code);
        ASSERT_EQ(code, CL_SUCCESS);
        EXPECT_EQ(read(queue(i), buffer, 8), (std::vector<cl_uint>{2, 1, 1, 1, 1, 1, 1, 1}));
        EXPECT_EQ(clFinish(queue(i)), CL_SUCCESS);
        ASSERT_EQ(clSetUserEventStatus(gate.get(), CL_COMPLETE), CL_SUCCESS);
        ASSERT_EQ(clEnqueueUnmapMemObject(queue(i), other.get(), place, 0, nullptr, nullptr), CL_SUCCESS);
        EXPECT_EQ(clFinish(queue(i)), CL_SUCCESS);
    }
}

TEST_F(refusals, a_command_that_waits_and_is_refused_then_fails_the_next_finish) {
    const auto program = build(
        "__kernel __attribute__((reqd_work_group_size(4, 1, 1))) void fours(__global uint* data) {"
        "    data[get_global_id(0)] = 4;"
        "}");
    const auto kernel = kernel_of(program, "fours");
    const auto buffer = new_buffer(32);
    auto* const raw = buffer.get();
    ASSERT_EQ(clSetKernelArg(kernel.get(), 0, sizeof raw, &raw), CL_SUCCESS);
    for (std::size_t i = 0; i < devices().size(); ++i) {
        const auto gate = new_user_event();
        const std::vector waits{gate.get()};
        const std::size_t global = 8;
        const std::size_t wrong = 2;
        ASSERT_EQ(clEnqueueNDRangeKernel(queue(i), kernel.get(), 1, nullptr, &global, &wrong, 1, waits.data(), nullptr),
                  CL_SUCCESS);
        ASSERT_EQ(clSetUserEventStatus(gate.get(), CL_COMPLETE), CL_SUCCESS);
        EXPECT_EQ(clFinish(queue(i)), CL_INVALID_WORK_GROUP_SIZE);
        EXPECT_EQ(clFinish(queue(i)), CL_SUCCESS);
    }
}

TEST_F(refusals, a_blocking_command_whose_wait_list_fails_says_so_on_every_rank) {
    for (std::size_t i = 0; i < devices().size(); ++i) {
        const auto gate = new_user_event();
        const auto buffer = new_buffer(4);
        const cl_uint value = 1;
        ASSERT_EQ(clSetUserEventStatus(gate.get(), -3), CL_SUCCESS);
        EXPECT_EQ(clEnqueueWriteBuffer(queue(i), buffer.get(), CL_TRUE, 0, 4, &value, 1, std::vector{gate.get()}.data(),
                                       nullptr),
                  CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
        EXPECT_EQ(clFinish(queue(i)), CL_SUCCESS);
    }
}

} // namespace
