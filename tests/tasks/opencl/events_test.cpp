// SPDX-License-Identifier: Apache-2.0
// Tasks and OpenCL's events wait for one another, on each device found.
#include <causeway/node_devices.hpp>
#include <causeway/tasks_opencl.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

thread_local long t_allocations_left = -1; ///< of this thread, before one fails; negative: none does
thread_local bool t_yields = false;        ///< at each allocation, so that threads take turns there

} // namespace

#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
void* operator new(std::size_t bytes) {
    if (t_yields) std::this_thread::yield();
    const bool fails = t_allocations_left >= 0 && t_allocations_left-- == 0;
    void* const memory = fails ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
    if (!memory) throw std::bad_alloc();
    return memory;
}
// Not inlined: g++ would warn that what `new` gave is given to free().
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
#endif

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

#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
cl_uint references(cl_event event) {
    cl_uint count = 0;
    clGetEventInfo(event, CL_EVENT_REFERENCE_COUNT, sizeof count, &count, nullptr);
    return count;
}

TEST_F(device_scene, a_task_for_whose_events_there_is_no_memory_is_refused) {
    cl_int code = CL_SUCCESS;
    const cl_event event = clCreateUserEvent(context, &code);
    ASSERT_EQ(code, CL_SUCCESS);
    clSetUserEventStatus(event, CL_COMPLETE);
    int refusals = 0;
    for (bool refused = true; refused; refusals += refused) {
        causeway::event_bridge bridge;
        causeway::task_group group(pool);
        std::atomic<bool> ran{false};
        refused = false;
        t_allocations_left = refusals;
        try {
            bridge.spawn_after(group, {&event, 1}, [&ran] { ran = true; });
        } catch (const std::bad_alloc&) {
            refused = true;
        }
        t_allocations_left = -1;
        try {
            group.wait();
        } catch (const std::runtime_error&) {
            EXPECT_TRUE(refused);
        }
        EXPECT_EQ(ran, !refused) << refusals;
    }
    EXPECT_GE(refusals, 4) << "what is watched, its status, its events, the list";
    EXPECT_EQ(references(event), 1u);
    clReleaseEvent(event);
}

TEST_F(device_scene, a_command_for_whose_event_there_is_no_memory_fails_and_is_released) {
    cl_int code = CL_SUCCESS;
    const cl_event event = clCreateUserEvent(context, &code);
    ASSERT_EQ(code, CL_SUCCESS);
    clSetUserEventStatus(event, CL_COMPLETE);
    {
        causeway::event_bridge bridge;
        causeway::task_group group(pool);
        const auto region = causeway::inout(values.data(), values.size());
        const auto enqueue = [event] {
            clRetainEvent(event); // the bridge releases it
            t_allocations_left = 0;
            return event;
        };
        std::atomic<bool> ran{false};
        bridge.spawn_command(group, enqueue, {region});
        group.spawn([&ran] { ran = true; }, {region});
        EXPECT_THROW(group.wait(), std::bad_alloc);
        t_allocations_left = -1;
        EXPECT_FALSE(ran);
    }
    EXPECT_EQ(references(event), 1u);
    clReleaseEvent(event);
}
#endif

TEST_F(device_scene, commands_of_several_threads_follow_one_another) {
    constexpr int threads = 3, commands = 300;
    causeway::event_bridge bridge;
    causeway::task_group group(pool);
    const auto region = causeway::inout(values.data(), values.size());
    cl_event before = nullptr; // of the last command, kept for the next one to look at
    int running = 0, enqueued = 0;
    const auto enqueue = [&] {
        cl_int status = CL_COMPLETE;
        if (before) clGetEventInfo(before, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
        running += status != CL_COMPLETE;
        ++enqueued;
        if (before) clReleaseEvent(before);
        before = nullptr;
        clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, sizeof values, values.data(), 0, nullptr, &before);
        clRetainEvent(before);
        return before;
    };
    {
        std::vector<std::jthread> all;
        for (int each = 0; each < threads; ++each)
            all.emplace_back([&] {
                t_yields = true;
                for (int count = 0; count < commands; ++count) bridge.spawn_command(group, enqueue, {region});
            });
    }
    group.wait();
    EXPECT_EQ(running, 0) << "enqueued before the command before them was over";
    EXPECT_EQ(enqueued, threads * commands);
    clReleaseEvent(before);
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

TEST_F(device_scene, regions_order_host_functions_transfers_and_kernels) {
    constexpr const char* source = "kernel void twice(global int* all) { all[get_global_id(0)] *= 2; }";
    cl_int code = CL_SUCCESS;
    const cl_program program = clCreateProgramWithSource(context, 1, const_cast<const char**>(&source), nullptr, &code);
    ASSERT_EQ(clBuildProgram(program, 1, &device, "", nullptr, nullptr), CL_SUCCESS);
    const cl_kernel kernel = clCreateKernel(program, "twice", &code);
    ASSERT_EQ(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), CL_SUCCESS);
    std::array<int, 1000> back{};
    int right = 0;
    causeway::event_bridge bridge;
    {
        causeway::task_group group(pool);
        const int on_device = 0; // stands for the buffer
        const auto host = causeway::inout(values.data(), values.size()), read = causeway::out(back.data(), back.size());
        const causeway_region device_data{&on_device, sizeof on_device, CAUSEWAY_REGION_INOUT, 0};
        for (int round = 1; round <= 20; ++round) {
            group.spawn([this, round] { values.fill(round); }, {host});
            bridge.spawn_command(group,
                                 [this] {
                                     cl_event event = nullptr;
                                     clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, sizeof values, values.data(), 0,
                                                          nullptr, &event);
                                     return event;
                                 },
                                 {causeway::in(values.data(), values.size()), device_data});
            bridge.spawn_command(group,
                                 [this, kernel] {
                                     cl_event event = nullptr;
                                     const std::size_t size = 1000;
                                     clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &size, nullptr, 0, nullptr,
                                                            &event);
                                     return event;
                                 },
                                 {device_data});
            bridge.spawn_command(group,
                                 [this, &back] {
                                     cl_event event = nullptr;
                                     clEnqueueReadBuffer(queue, buffer, CL_FALSE, 0, sizeof back, back.data(), 0,
                                                         nullptr, &event);
                                     return event;
                                 },
                                 {device_data, read});
            group.spawn([&right, &back, round] { right += back[0] == 2 * round && back[999] == 2 * round; },
                        {causeway::in(back.data(), back.size()), causeway::inout(&right)});
        }
        group.wait();
    }
    EXPECT_EQ(right, 20);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
}

TEST_F(device_scene, a_command_that_fails_or_is_not_enqueued_fails_the_group) {
    causeway::event_bridge bridge;
    const auto region = causeway::inout(values.data(), values.size());
    {
        causeway::task_group group(pool);
        cl_int code = CL_SUCCESS;
        const cl_event event = clCreateUserEvent(context, &code);
        ASSERT_EQ(code, CL_SUCCESS);
        std::atomic<bool> ran{false};
        bridge.spawn_command(group, [event] { return event; }, {region});
        group.spawn([&] { ran = true; }, {region});
        clSetUserEventStatus(event, -77);
        EXPECT_THROW(group.wait(), std::runtime_error);
        EXPECT_FALSE(ran);
    }
    causeway::task_group group(pool);
    bridge.spawn_command(group, []() -> cl_event { throw std::logic_error("none"); }, {region});
    EXPECT_THROW(group.wait(), std::logic_error);
    std::atomic<bool> ran{false};
    group.cancel();
    bridge.spawn_command(group, [&]() -> cl_event { return ran = true, nullptr; }, {region});
    EXPECT_THROW(group.wait(), causeway::tasks_error);
    EXPECT_FALSE(ran);
}

TEST_F(device_scene, parts_of_nodes_are_sub_devices_or_the_whole_device) {
    const auto parts = causeway::devices_of_nodes(device);
    ASSERT_FALSE(parts.empty());
    for (const auto each : parts) {
        cl_device_id parent = nullptr;
        EXPECT_EQ(clGetDeviceInfo(each, CL_DEVICE_PARENT_DEVICE, sizeof parent, &parent, nullptr), CL_SUCCESS);
        if (parts.size() == 1)
            EXPECT_EQ(each, device) << "divided, though there is one node";
        else
            EXPECT_EQ(parent, device);
        clReleaseDevice(each);
    }
}

/// Two parts of the device stand for nodes; memory lies on node 1 from here on.
const void* s_second_node = nullptr;

TEST_F(device_scene, kernels_go_to_the_part_of_the_node_that_has_their_buffers) {
    cl_uint units = 0;
    clGetDeviceInfo(device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, nullptr);
    std::vector<cl_device_id> parts(2);
    const cl_device_partition_property halves[] = {CL_DEVICE_PARTITION_EQUALLY, static_cast<intptr_t>(units / 2), 0};
    if (units < 2 || clCreateSubDevices(device, halves, 2, parts.data(), nullptr) != CL_SUCCESS)
        GTEST_SKIP() << "the device cannot be divided";
    causeway::node_devices nodes(parts, [](const void* address) { return address < s_second_node ? 0 : 1; });
    ASSERT_EQ(nodes.nodes(), 2u);
    const std::size_t bytes = 1 << 20;
    causeway::node_devices::buffer left(nodes, bytes, CAUSEWAY_DISTRIBUTION_COARSE),
        right(nodes, bytes, CAUSEWAY_DISTRIBUTION_COARSE), large(nodes, 4 * bytes, CAUSEWAY_DISTRIBUTION_FINE);
    const auto of_left = left.region(CAUSEWAY_REGION_INOUT), of_right = right.region(CAUSEWAY_REGION_INOUT);
    ASSERT_NE(of_left.address, of_right.address);
    const bool in_order = of_left.address < of_right.address;
    s_second_node = in_order ? of_right.address : of_left.address;
    const auto& first = in_order ? of_left : of_right;
    const auto& second = in_order ? of_right : of_left;
    EXPECT_EQ(nodes.queue_near({&first, 1}), nodes.queue(0));
    EXPECT_EQ(nodes.queue_near({&second, 1}), nodes.queue(1));
    auto small = first;
    small.bytes = 5000;
    const std::array<causeway_region, 2> both = {small, second};
    EXPECT_EQ(nodes.queue_near(both), nodes.queue(1)) << "most of the bytes";
    std::array<int, 2> chosen{};
    for (int each = 0; each < 5; ++each) ++chosen[nodes.queue_near({}) == nodes.queue(0) ? 0 : 1];
    EXPECT_TRUE(chosen[0] >= 2 && chosen[1] >= 2) << "nothing is known: in turn";

    // Its memory is the buffer's: what a command writes there is seen where it is mapped.
    const int pattern = 41;
    cl_int code = CL_SUCCESS;
    ASSERT_EQ(clEnqueueFillBuffer(nodes.queue(1), right.get(), &pattern, sizeof pattern, 0, bytes, 0, nullptr, nullptr),
              CL_SUCCESS);
    auto* const mapped = static_cast<int*>(
        clEnqueueMapBuffer(nodes.queue(1), right.get(), CL_TRUE, CL_MAP_READ, 0, bytes, 0, nullptr, nullptr, &code));
    ASSERT_EQ(code, CL_SUCCESS);
    EXPECT_EQ(static_cast<const void*>(mapped), of_right.address);
    EXPECT_EQ(mapped[1000], 41);
    clEnqueueUnmapMemObject(nodes.queue(1), right.get(), mapped, 0, nullptr, nullptr);
    clFinish(nodes.queue(1));
}

} // namespace
