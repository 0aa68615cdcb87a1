// SPDX-License-Identifier: Apache-2.0
// One context over all devices, also those of different drivers: contents follow the commands, events hold everywhere.
#include "platform_fixture.hpp"

#include <CL/cl_cluster.h>

#include <gmock/gmock.h>

#include <numeric>
#include <thread>

using namespace support;

namespace {

using spanning = platform_test;
constexpr std::size_t items = 1000;

TEST_F(spanning, contents_follow_kernels_from_device_to_device) {
    const auto program = build(add_source);
    const auto add = kernel_of(program, "add");
    std::vector<cl_uint> start(items, 5);
    const auto buffer = new_buffer(items * sizeof(cl_uint), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, start.data());
    cl_uint sum = 5;
    for (cl_uint round = 1; round <= 12; ++round) {
        const auto on = round % devices().size();
        launch(queue(on), add, buffer, round, items);
        ASSERT_EQ(clFinish(queue(on)), CL_SUCCESS);
        sum += round;
    }
    EXPECT_EQ(read(last_queue(), buffer, items), std::vector<cl_uint>(items, sum));
}

TEST_F(spanning, large_contents_take_the_link_between_devices) {
    if (std::getenv("CAUSEWAY_TEST_LINK") == nullptr) GTEST_SKIP() << "no link is pretended";
    constexpr std::size_t many = std::size_t{4} << 20;
    std::vector<cl_uint> values(many);
    for (std::size_t i = 0; i < many; ++i) values[i] = static_cast<cl_uint>(i * 2654435761U);
    const auto buffer = new_buffer(many * 4);
    testing::internal::CaptureStderr();
    ASSERT_EQ(clEnqueueWriteBuffer(queue(0), buffer.get(), CL_TRUE, 0, many * 4, values.data(), 0, nullptr, nullptr),
              CL_SUCCESS);
    const auto seen = read(last_queue(), buffer, many);
    const auto told = testing::internal::GetCapturedStderr();
    EXPECT_TRUE(seen == values);
    EXPECT_THAT(told, testing::HasSubstr("device buffer -> device buffer, 16 MiB: device-window"));
}

TEST_F(spanning, what_is_behind_a_read_in_its_queue_is_over_after_it) {
    constexpr std::size_t many = std::size_t{4} << 20;
    std::vector<cl_uint> values(many);
    for (std::size_t i = 0; i < many; ++i) values[i] = static_cast<cl_uint>(i * 2654435761U);
    for (std::size_t device = 0; device < devices().size(); ++device) {
        auto* const on = queue(device);
        const auto large = new_buffer(many * 4), small = new_buffer(4);
        const cl_uint one = 1;
        ASSERT_EQ(clEnqueueWriteBuffer(on, large.get(), CL_TRUE, 0, many * 4, values.data(), 0, nullptr, nullptr),
                  CL_SUCCESS);
        ASSERT_EQ(clEnqueueWriteBuffer(on, small.get(), CL_TRUE, 0, 4, &one, 0, nullptr, nullptr), CL_SUCCESS);
        for (const bool by_event : {false, true}) {
            std::vector<cl_uint> back(many);
            cl_uint word = 0;
            ASSERT_EQ(clEnqueueReadBuffer(on, large.get(), CL_FALSE, 0, many * 4, back.data(), 0, nullptr, nullptr),
                      CL_SUCCESS);
            if (by_event) {
                cl_event behind = nullptr;
                ASSERT_EQ(clEnqueueFillBuffer(on, small.get(), &one, 4, 0, 4, 0, nullptr, &behind), CL_SUCCESS);
                const event_handle held(behind);
                ASSERT_EQ(clWaitForEvents(1, &behind), CL_SUCCESS);
            } else {
                ASSERT_EQ(clEnqueueReadBuffer(on, small.get(), CL_TRUE, 0, 4, &word, 0, nullptr, nullptr), CL_SUCCESS);
                EXPECT_EQ(word, one);
            }
            EXPECT_TRUE(back == values) << "by " << (by_event ? "event" : "a blocking read");
            ASSERT_EQ(clFinish(on), CL_SUCCESS);
        }
    }
}

TEST_F(spanning, each_device_may_have_a_context_of_its_own) {
    for (auto* const device : devices()) {
        cl_int code = CL_SUCCESS;
        const context_handle own(clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code));
        ASSERT_EQ(code, CL_SUCCESS);
        const queue_handle on(clCreateCommandQueue(own.get(), device, 0, &code));
        ASSERT_EQ(code, CL_SUCCESS);
        const buffer_handle buffer(
            clCreateBuffer(own.get(), CL_MEM_READ_WRITE, items * sizeof(cl_uint), nullptr, &code));
        ASSERT_EQ(code, CL_SUCCESS);
        const char* source = add_source;
        const program_handle program(clCreateProgramWithSource(own.get(), 1, &source, nullptr, &code));
        ASSERT_EQ(clBuildProgram(program.get(), 0, nullptr, "", nullptr, nullptr), CL_SUCCESS);
        const std::vector<cl_uint> start(items, 5);
        ASSERT_EQ(clEnqueueWriteBuffer(on.get(), buffer.get(), CL_FALSE, 0, items * sizeof(cl_uint), start.data(), 0,
                                       nullptr, nullptr),
                  CL_SUCCESS);
        launch(on.get(), kernel_of(program, "add"), buffer, 7, items);
        auto* const mapped = static_cast<cl_uint*>(clEnqueueMapBuffer(on.get(), buffer.get(), CL_TRUE,
                                                                      CL_MAP_READ | CL_MAP_WRITE, 0, sizeof(cl_uint), 0,
                                                                      nullptr, nullptr, &code));
        ASSERT_EQ(code, CL_SUCCESS);
        EXPECT_EQ(*mapped, 12u);
        *mapped = 13;
        ASSERT_EQ(clEnqueueUnmapMemObject(on.get(), buffer.get(), mapped, 0, nullptr, nullptr), CL_SUCCESS);
        std::vector<cl_uint> expected(items, 12);
        expected[0] = 13;
        EXPECT_EQ(read(on.get(), buffer, items), expected);
        EXPECT_EQ(clFinish(on.get()), CL_SUCCESS);
    }
}

TEST_F(spanning, events_order_commands_of_different_devices) {
    const auto program = build(add_source);
    const auto add = kernel_of(program, "add");
    const auto buffer = new_buffer(items * sizeof(cl_uint));
    const cl_uint zero = 0;
    event_handle before;
    ASSERT_EQ(clEnqueueFillBuffer(queue(), buffer.get(), &zero, sizeof zero, 0, items * sizeof zero, 0, nullptr,
                                  before.out()),
              CL_SUCCESS);
    for (cl_uint round = 1; round <= 60; ++round) {
        event_handle after;
        launch(queue(round % devices().size()), add, buffer, round, items, {before.get()}, after.out());
        before = std::move(after);
    }
    ASSERT_EQ(clWaitForEvents(1, std::vector{before.get()}.data()), CL_SUCCESS);
    EXPECT_EQ(read(queue(), buffer, items), std::vector<cl_uint>(items, 60 * 61 / 2));
}

TEST_F(spanning, a_user_event_holds_commands_of_every_device_back_and_in_order) {
    const auto program = build(add_source);
    const auto add = kernel_of(program, "add");
    std::vector<buffer_handle> buffers;
    const auto gate = new_user_event();
    const std::vector<cl_uint> zeros(items, 0);
    for (std::size_t i = 0; i < devices().size(); ++i) {
        buffers.push_back(new_buffer(items * sizeof(cl_uint)));
        ASSERT_EQ(clEnqueueWriteBuffer(queue(i), buffers[i].get(), CL_FALSE, 0, items * sizeof(cl_uint), zeros.data(),
                                       1, std::vector{gate.get()}.data(), nullptr),
                  CL_SUCCESS);
        launch(queue(i), add, buffers[i], 7, items);
        // The arguments of a launch are those of its enqueue.
        launch(queue(i), add, buffers[i], 100, items);
    }
    event_handle last;
    ASSERT_EQ(clEnqueueMarkerWithWaitList(queue(), 0, nullptr, last.out()), CL_SUCCESS);
    EXPECT_GT(status_of(last.get()), CL_COMPLETE);
    ASSERT_EQ(clSetUserEventStatus(gate.get(), CL_COMPLETE), CL_SUCCESS);
    EXPECT_EQ(clSetUserEventStatus(gate.get(), CL_COMPLETE), CL_INVALID_OPERATION);
    for (std::size_t i = 0; i < devices().size(); ++i)
        EXPECT_EQ(read(queue(i), buffers[i], items), std::vector<cl_uint>(items, 107));
    EXPECT_EQ(status_of(last.get()), CL_COMPLETE);
}

TEST_F(spanning, a_failed_event_fails_its_dependents_on_every_device_and_nothing_else) {
    for (std::size_t i = 0; i < devices().size(); ++i) {
        const auto gate = new_user_event();
        const auto buffer = new_buffer(items * sizeof(cl_uint));
        const std::vector<cl_uint> good(items, 1);
        const std::vector<cl_uint> bad(items, 2);
        ASSERT_EQ(clEnqueueWriteBuffer(queue(i), buffer.get(), CL_TRUE, 0, items * sizeof(cl_uint), good.data(), 0,
                                       nullptr, nullptr),
                  CL_SUCCESS);
        event_handle write;
        event_handle chained;
        ASSERT_EQ(clEnqueueWriteBuffer(queue(i), buffer.get(), CL_FALSE, 0, 4, bad.data(), 1,
                                       std::vector{gate.get()}.data(), write.out()),
                  CL_SUCCESS);
        ASSERT_EQ(clEnqueueMarkerWithWaitList(last_queue(), 1, std::vector{write.get()}.data(), chained.out()),
                  CL_SUCCESS);
        ASSERT_EQ(clSetUserEventStatus(gate.get(), -77), CL_SUCCESS);
        EXPECT_EQ(clWaitForEvents(1, std::vector{chained.get()}.data()), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
        EXPECT_EQ(status_of(gate.get()), -77);
        EXPECT_EQ(status_of(write.get()), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
        // One that has failed already.
        event_handle late;
        EXPECT_EQ(clEnqueueReadBuffer(queue(i), buffer.get(), CL_TRUE, 0, 4, std::vector<cl_uint>(1).data(), 1,
                                      std::vector{write.get()}.data(), late.out()),
                  CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
        EXPECT_EQ(read(queue(i), buffer, items), good);
        EXPECT_EQ(clFinish(queue(i)), CL_SUCCESS);
    }
}

TEST_F(spanning, sub_buffers_move_with_their_buffer) {
    const auto program = build(add_source);
    const auto add = kernel_of(program, "add");
    std::vector<cl_uint> start(2048);
    std::iota(start.begin(), start.end(), 0U);
    const auto whole = new_buffer(start.size() * 4, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, start.data());
    const cl_buffer_region region{1024 * 4, 1024 * 4};
    cl_int code = CL_SUCCESS;
    const buffer_handle half(clCreateSubBuffer(whole.get(), 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code));
    ASSERT_EQ(code, CL_SUCCESS);
    launch(queue(), add, half, 5, 1024);
    ASSERT_EQ(clFinish(queue()), CL_SUCCESS);
    launch(last_queue(), add, whole, 1, 2048);
    const auto result = read(last_queue(), whole, 2048);
    for (std::size_t i = 0; i < result.size(); ++i) ASSERT_EQ(result[i], i + 1 + (i >= 1024 ? 5 : 0)) << i;
    const cl_buffer_region beyond{1024 * 4, 1024 * 4 + 4};
    EXPECT_EQ(clCreateSubBuffer(whole.get(), 0, CL_BUFFER_CREATE_TYPE_REGION, &beyond, &code), nullptr);
    EXPECT_EQ(code, CL_INVALID_VALUE);
    const cl_buffer_region odd{4, 4};
    EXPECT_EQ(clCreateSubBuffer(whole.get(), 0, CL_BUFFER_CREATE_TYPE_REGION, &odd, &code), nullptr);
    EXPECT_EQ(code, CL_MISALIGNED_SUB_BUFFER_OFFSET);
}

TEST_F(spanning, maps_show_what_another_device_wrote_and_write_it_back) {
    const auto program = build(add_source);
    const auto add = kernel_of(program, "add");
    std::vector<cl_uint> start(items, 3);
    for (const cl_mem_flags flags : {CL_MEM_COPY_HOST_PTR, CL_MEM_USE_HOST_PTR}) {
        auto host = start;
        const auto buffer = new_buffer(items * 4, CL_MEM_READ_WRITE | flags, host.data());
        launch(queue(), add, buffer, 4, items);
        ASSERT_EQ(clFinish(queue()), CL_SUCCESS);
        cl_int code = CL_SUCCESS;
        event_handle mapped;
        auto* const values = static_cast<cl_uint*>(clEnqueueMapBuffer(
            last_queue(), buffer.get(), CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 400, 40, 0, nullptr, mapped.out(), &code));
        ASSERT_EQ(code, CL_SUCCESS);
        if (flags == CL_MEM_USE_HOST_PTR) {
            EXPECT_EQ(values, host.data() + 100);
        }
        cl_uint count = 0;
        ASSERT_EQ(clGetMemObjectInfo(buffer.get(), CL_MEM_MAP_COUNT, sizeof count, &count, nullptr), CL_SUCCESS);
        EXPECT_EQ(count, 1U);
        for (int i = 0; i < 10; ++i) {
            EXPECT_EQ(values[i], 7U);
            values[i] = 50;
        }
        cl_command_type type = 0;
        ASSERT_EQ(clGetEventInfo(mapped.get(), CL_EVENT_COMMAND_TYPE, sizeof type, &type, nullptr), CL_SUCCESS);
        EXPECT_EQ(type, static_cast<cl_command_type>(CL_COMMAND_MAP_BUFFER));
        ASSERT_EQ(clEnqueueUnmapMemObject(last_queue(), buffer.get(), values, 0, nullptr, nullptr), CL_SUCCESS);
        EXPECT_EQ(clEnqueueUnmapMemObject(last_queue(), buffer.get(), values, 0, nullptr, nullptr), CL_INVALID_VALUE);
        ASSERT_EQ(clFinish(last_queue()), CL_SUCCESS);
        const auto result = read(queue(), buffer, items);
        for (std::size_t i = 0; i < items; ++i) ASSERT_EQ(result[i], i >= 100 && i < 110 ? 50U : 7U) << i;
    }
}

TEST_F(spanning, a_map_that_waits_has_its_address_at_once_and_its_contents_later) {
    const auto gate = new_user_event();
    const std::vector<cl_uint> values(items, 9);
    const auto buffer = new_buffer(items * 4);
    ASSERT_EQ(clEnqueueWriteBuffer(queue(), buffer.get(), CL_FALSE, 0, items * 4, values.data(), 1,
                                   std::vector{gate.get()}.data(), nullptr),
              CL_SUCCESS);
    cl_int code = CL_SUCCESS;
    event_handle mapped;
    auto* const address = static_cast<cl_uint*>(clEnqueueMapBuffer(queue(), buffer.get(), CL_FALSE, CL_MAP_READ, 0,
                                                                   items * 4, 0, nullptr, mapped.out(), &code));
    ASSERT_EQ(code, CL_SUCCESS);
    ASSERT_NE(address, nullptr);
    EXPECT_GT(status_of(mapped.get()), CL_COMPLETE);
    ASSERT_EQ(clSetUserEventStatus(gate.get(), CL_COMPLETE), CL_SUCCESS);
    ASSERT_EQ(clWaitForEvents(1, std::vector{mapped.get()}.data()), CL_SUCCESS);
    EXPECT_EQ(std::vector<cl_uint>(address, address + items), values);
    ASSERT_EQ(clEnqueueUnmapMemObject(queue(), buffer.get(), address, 0, nullptr, nullptr), CL_SUCCESS);
    ASSERT_EQ(clFinish(queue()), CL_SUCCESS);
}

TEST_F(spanning, images_move_between_devices) {
    const cl_image_format format{CL_RGBA, CL_UNSIGNED_INT8};
    cl_image_desc shape{};
    shape.image_type = CL_MEM_OBJECT_IMAGE2D;
    shape.image_width = 33;
    shape.image_height = 17;
    const auto pixels = pattern(33 * 17 * 4);
    cl_int code = CL_SUCCESS;
    const buffer_handle image(clCreateImage(context(), CL_MEM_READ_WRITE, &format, &shape, nullptr, &code));
    ASSERT_EQ(code, CL_SUCCESS);
    const size_t origin[3] = {0, 0, 0};
    const size_t region[3] = {33, 17, 1};
    ASSERT_EQ(
        clEnqueueWriteImage(queue(), image.get(), CL_TRUE, origin, region, 0, 0, pixels.data(), 0, nullptr, nullptr),
        CL_SUCCESS);
    bytes back(pixels.size());
    ASSERT_EQ(
        clEnqueueReadImage(last_queue(), image.get(), CL_TRUE, origin, region, 0, 0, back.data(), 0, nullptr, nullptr),
        CL_SUCCESS);
    EXPECT_TRUE(same_bytes(pixels, back));

    const size_t corner[3] = {3, 5, 0};
    const size_t part[3] = {4, 2, 1};
    size_t row_pitch = 0;
    auto* const mapped = static_cast<unsigned char*>(clEnqueueMapImage(last_queue(), image.get(), CL_TRUE, CL_MAP_READ,
                                                                       corner, part, &row_pitch, nullptr, 0, nullptr,
                                                                       nullptr, &code));
    ASSERT_EQ(code, CL_SUCCESS);
    for (std::size_t y = 0; y < 2; ++y)
        for (std::size_t x = 0; x < 16; ++x) ASSERT_EQ(mapped[y * row_pitch + x], pixels[(5 + y) * 33 * 4 + 12 + x]);
    ASSERT_EQ(clEnqueueUnmapMemObject(last_queue(), image.get(), mapped, 0, nullptr, nullptr), CL_SUCCESS);
    ASSERT_EQ(clFinish(last_queue()), CL_SUCCESS);
}

TEST_F(spanning, attached_buffers_are_right_on_every_device_also_on_the_wrong_one) {
    const auto attach = reinterpret_cast<clAttachBufferToDevice_fn>(
        clGetExtensionFunctionAddressForPlatform(platform(), "clAttachBufferToDevice"));
    ASSERT_NE(attach, nullptr);
    const auto program = build(add_source);
    const auto add = kernel_of(program, "add");
    for (std::size_t home = 0; home < devices().size(); ++home) {
        std::vector<cl_uint> start(items, 5);
        const auto buffer = new_buffer(items * 4, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, start.data());
        ASSERT_EQ(attach(buffer.get(), devices()[home]), CL_SUCCESS);
        cl_uint sum = 5;
        for (std::size_t on = 0; on < devices().size(); ++on) {
            for (cl_uint round = 1; round <= 3; ++round)
                launch(queue(on), add, buffer, sum += round, items), sum += sum - round;
            ASSERT_EQ(clFinish(queue(on)), CL_SUCCESS);
        }
        cl_uint expected = 5;
        cl_uint step = 5;
        for (std::size_t on = 0; on < devices().size(); ++on)
            for (cl_uint round = 1; round <= 3; ++round) {
                step += round;
                expected += step;
                step += step - round;
            }
        EXPECT_EQ(read(last_queue(), buffer, items), std::vector<cl_uint>(items, expected));
        EXPECT_EQ(read(queue(), buffer, items), std::vector<cl_uint>(items, expected));
    }
    EXPECT_EQ(attach(nullptr, devices()[0]), CL_INVALID_MEM_OBJECT);
    EXPECT_EQ(attach(new_buffer(4).get(), nullptr), CL_INVALID_DEVICE);
}

TEST_F(spanning, contents_that_arrive_wait_for_earlier_commands_at_their_target) {
    if (!spans()) GTEST_SKIP() << "one driver has all devices";
    const auto program = build(slow_source);
    const auto slow = kernel_of(program, "slow");
    const auto slow_copy = kernel_of(program, "slow_copy");
    const auto written = new_buffer(4);
    const auto read_slowly = new_buffer(4);
    const auto copy = new_buffer(4);
    const cl_uint old = 1;
    const cl_uint next = 2;
    const auto write = [](cl_command_queue on, const buffer_handle& to, const cl_uint& value) {
        EXPECT_EQ(clEnqueueWriteBuffer(on, to.get(), CL_TRUE, 0, 4, &value, 0, nullptr, nullptr), CL_SUCCESS);
    };
    write(queue(), read_slowly, old);
    launch(queue(), slow, written, 50'000'000, 1);
    auto* const target = copy.get();
    const cl_uint rounds = 50'000'000;
    ASSERT_EQ(clSetKernelArg(slow_copy.get(), 1, sizeof target, &target), CL_SUCCESS);
    ASSERT_EQ(clSetKernelArg(slow_copy.get(), 2, sizeof rounds, &rounds), CL_SUCCESS);
    auto* const source = read_slowly.get();
    const std::size_t one = 1;
    ASSERT_EQ(clSetKernelArg(slow_copy.get(), 0, sizeof source, &source), CL_SUCCESS);
    ASSERT_EQ(clEnqueueNDRangeKernel(queue(), slow_copy.get(), 1, nullptr, &one, nullptr, 0, nullptr, nullptr),
              CL_SUCCESS);
    ASSERT_EQ(clFlush(queue()), CL_SUCCESS);
    write(last_queue(), written, next);
    write(last_queue(), read_slowly, next);
    // Another queue of the first device: the contents come there, whatever its first queue still does.
    const auto other = new_queue(devices().front());
    EXPECT_EQ(read(other.get(), read_slowly, 1), std::vector<cl_uint>{next});
    EXPECT_EQ(read(other.get(), written, 1), std::vector<cl_uint>{next});
    ASSERT_EQ(clFinish(queue()), CL_SUCCESS);
    EXPECT_EQ(read(other.get(), written, 1), std::vector<cl_uint>{next});
    EXPECT_EQ(read(other.get(), copy, 1), std::vector<cl_uint>{old});
}

TEST_F(spanning, what_a_failed_command_was_to_overwrite_stays) {
    const auto gate = new_user_event();
    std::vector<cl_uint> start(items, 5);
    const std::vector<cl_uint> other(items, 6);
    const auto source = new_buffer(items * 4, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, start.data());
    const auto buffer = new_buffer(items * 4);
    ASSERT_EQ(clEnqueueWriteBuffer(queue(), buffer.get(), CL_TRUE, 0, items * 4, start.data(), 0, nullptr, nullptr),
              CL_SUCCESS);
    const cl_uint zero = 0;
    const std::vector waits{gate.get()};
    event_handle last;
    ASSERT_EQ(clEnqueueWriteBuffer(last_queue(), buffer.get(), CL_FALSE, 0, items * 4, other.data(), 1, waits.data(),
                                   nullptr),
              CL_SUCCESS);
    ASSERT_EQ(clEnqueueFillBuffer(last_queue(), buffer.get(), &zero, 4, 0, items * 4, 1, waits.data(), nullptr),
              CL_SUCCESS);
    ASSERT_EQ(
        clEnqueueCopyBuffer(last_queue(), source.get(), buffer.get(), 0, 0, items * 4, 1, waits.data(), last.out()),
        CL_SUCCESS);
    ASSERT_EQ(clSetUserEventStatus(gate.get(), -5), CL_SUCCESS);
    EXPECT_EQ(clWaitForEvents(1, std::vector{last.get()}.data()), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    EXPECT_EQ(read(queue(), buffer, items), start);
    EXPECT_EQ(read(last_queue(), buffer, items), start);
}

TEST_F(spanning, threads_enqueue_on_different_devices_at_once) {
    const auto program = build(add_source);
    std::vector<std::thread> threads;
    std::vector<std::vector<cl_uint>> results(4);
    for (std::size_t i = 0; i < results.size(); ++i)
        threads.emplace_back([&, i] {
            const auto add = kernel_of(program, "add");
            std::vector<cl_uint> start(items, static_cast<cl_uint>(i));
            const auto buffer = new_buffer(items * 4, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, start.data());
            for (cl_uint round = 0; round < 20; ++round) {
                auto* const on = queue((i + round) % devices().size());
                launch(on, add, buffer, 1, items);
                clFinish(on);
            }
            results[i] = read(queue(), buffer, items);
        });
    for (auto& thread : threads) thread.join();
    for (std::size_t i = 0; i < results.size(); ++i)
        EXPECT_EQ(results[i], std::vector<cl_uint>(items, static_cast<cl_uint>(i) + 20));
}

} // namespace
