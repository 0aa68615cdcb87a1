// SPDX-License-Identifier: Apache-2.0
// What objects say of themselves, how they are counted, and which ones are refused.
#include "platform_fixture.hpp"

#include <CL/cl_icd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <future>
#include <string>
#include <thread>

using namespace support;

namespace {

using objects = platform_test;

template <class Value, class Ask> Value answer(Ask ask) {
    Value value{};
    size_t size = 0;
    EXPECT_EQ(ask(0, nullptr, &size), CL_SUCCESS);
    EXPECT_EQ(size, sizeof value);
    EXPECT_EQ(ask(sizeof value, &value, nullptr), CL_SUCCESS);
    EXPECT_EQ(ask(sizeof value - 1, &value, nullptr), CL_INVALID_VALUE);
    return value;
}

TEST_F(objects, every_slot_of_the_table_is_filled) {
    // The first word of an object is its table, as loaders need it.
    const auto* const table = *reinterpret_cast<void* const* const*>(platform());
    for (std::size_t i = 0; i < sizeof(cl_icd_dispatch) / sizeof(void*); ++i)
        EXPECT_NE(table[i], nullptr) << "slot " << i;
    EXPECT_EQ(*reinterpret_cast<void* const* const*>(context()), table);
    EXPECT_EQ(*reinterpret_cast<void* const* const*>(queue()), table);
}

TEST_F(objects, answers_name_our_objects_and_no_drivers) {
    for (auto* const device : devices()) {
        EXPECT_EQ(
            answer<cl_platform_id>([&](auto... to) { return clGetDeviceInfo(device, CL_DEVICE_PLATFORM, to...); }),
            platform());
        EXPECT_EQ(
            answer<cl_device_id>([&](auto... to) { return clGetDeviceInfo(device, CL_DEVICE_PARENT_DEVICE, to...); }),
            nullptr);
    }
    std::vector<cl_device_id> listed(devices().size());
    ASSERT_EQ(
        clGetContextInfo(context(), CL_CONTEXT_DEVICES, listed.size() * sizeof(cl_device_id), listed.data(), nullptr),
        CL_SUCCESS);
    EXPECT_EQ(listed, devices());
    EXPECT_EQ(answer<cl_context>([&](auto... to) { return clGetCommandQueueInfo(queue(), CL_QUEUE_CONTEXT, to...); }),
              context());
    EXPECT_EQ(answer<cl_device_id>([&](auto... to) { return clGetCommandQueueInfo(queue(), CL_QUEUE_DEVICE, to...); }),
              devices()[0]);
    const auto program = build(add_source);
    const auto kernel = kernel_of(program, "scale");
    EXPECT_EQ(
        answer<cl_context>([&](auto... to) { return clGetProgramInfo(program.get(), CL_PROGRAM_CONTEXT, to...); }),
        context());
    EXPECT_EQ(answer<cl_program>([&](auto... to) { return clGetKernelInfo(kernel.get(), CL_KERNEL_PROGRAM, to...); }),
              program.get());
    EXPECT_EQ(answer<cl_uint>([&](auto... to) { return clGetKernelInfo(kernel.get(), CL_KERNEL_NUM_ARGS, to...); }),
              3U);
    char source[1000] = "";
    ASSERT_EQ(clGetProgramInfo(program.get(), CL_PROGRAM_SOURCE, sizeof source, source, nullptr), CL_SUCCESS);
    EXPECT_STREQ(source, add_source);
    char type[16] = "";
    ASSERT_EQ(clGetKernelArgInfo(kernel.get(), 1, CL_KERNEL_ARG_TYPE_NAME, sizeof type, type, nullptr), CL_SUCCESS);
    EXPECT_STREQ(type, "uint*");
    for (auto* const device : devices())
        EXPECT_GT(answer<size_t>([&](auto... to) {
                      return clGetKernelWorkGroupInfo(kernel.get(), device, CL_KERNEL_WORK_GROUP_SIZE, to...);
                  }),
                  0U);
    const auto buffer = new_buffer(64);
    event_handle event;
    ASSERT_EQ(clEnqueueMarkerWithWaitList(last_queue(), 0, nullptr, event.out()), CL_SUCCESS);
    EXPECT_EQ(answer<cl_command_queue>(
                  [&](auto... to) { return clGetEventInfo(event.get(), CL_EVENT_COMMAND_QUEUE, to...); }),
              last_queue());
    EXPECT_EQ(answer<cl_context>([&](auto... to) { return clGetMemObjectInfo(buffer.get(), CL_MEM_CONTEXT, to...); }),
              context());
    const auto gate = new_user_event();
    EXPECT_EQ(
        answer<cl_command_queue>([&](auto... to) { return clGetEventInfo(gate.get(), CL_EVENT_COMMAND_QUEUE, to...); }),
        nullptr);
    ASSERT_EQ(clSetUserEventStatus(gate.get(), CL_COMPLETE), CL_SUCCESS);
}

TEST_F(objects, only_the_devices_that_the_filter_names_are_there) {
    const char* const expected = std::getenv("CAUSEWAY_TEST_DEVICES");
    if (expected == nullptr) GTEST_SKIP() << "for runs with CAUSEWAY_DEVICES";
    EXPECT_EQ(devices().size(), std::stoul(expected));
}

TEST_F(objects, references_count_what_the_program_holds) {
    const auto buffer = new_buffer(64);
    const auto count = [&] {
        return answer<cl_uint>(
            [&](auto... to) { return clGetMemObjectInfo(buffer.get(), CL_MEM_REFERENCE_COUNT, to...); });
    };
    EXPECT_EQ(count(), 1U);
    const auto gate = new_user_event();
    const cl_uint one = 1;
    ASSERT_EQ(clEnqueueFillBuffer(queue(), buffer.get(), &one, 4, 0, 64, 1, std::vector{gate.get()}.data(), nullptr),
              CL_SUCCESS);
    EXPECT_EQ(count(), 1U) << "what the platform itself holds is its own affair";
    ASSERT_EQ(clRetainMemObject(buffer.get()), CL_SUCCESS);
    EXPECT_EQ(count(), 2U);
    ASSERT_EQ(clReleaseMemObject(buffer.get()), CL_SUCCESS);
    EXPECT_EQ(count(), 1U);
    ASSERT_EQ(clSetUserEventStatus(gate.get(), CL_COMPLETE), CL_SUCCESS);
    ASSERT_EQ(clFinish(queue()), CL_SUCCESS);
}

TEST_F(objects, commands_keep_what_they_use) {
    const auto program = build(add_source);
    const auto gate = new_user_event();
    std::vector<cl_uint> result(16, 0);
    std::vector<cl_uint> start(16, 1);
    event_handle read_event;
    {
        const auto own = new_queue(devices().front());
        const auto add = kernel_of(program, "add");
        const auto buffer = new_buffer(64, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, start.data());
        ASSERT_EQ(clEnqueueBarrierWithWaitList(own.get(), 1, std::vector{gate.get()}.data(), nullptr), CL_SUCCESS);
        launch(own.get(), add, buffer, 4, 16);
        ASSERT_EQ(
            clEnqueueReadBuffer(own.get(), buffer.get(), CL_FALSE, 0, 64, result.data(), 0, nullptr, read_event.out()),
            CL_SUCCESS);
    }
    ASSERT_EQ(clSetUserEventStatus(gate.get(), CL_COMPLETE), CL_SUCCESS);
    ASSERT_EQ(clWaitForEvents(1, std::vector{read_event.get()}.data()), CL_SUCCESS);
    EXPECT_EQ(result, std::vector<cl_uint>(16, 5));
}

TEST_F(objects, those_of_other_platforms_and_kinds_are_refused) {
    // An object of another table, as any other platform's would be.
    struct {
        void* table[200];
        void* first;
    } foreign{};
    foreign.first = foreign.table;
    struct {
        const void* table;
        char rest[256];
    } alien{foreign.table, {}};
    auto* const event = reinterpret_cast<cl_event>(&alien);
    auto* const memory = reinterpret_cast<cl_mem>(&alien);
    const auto buffer = new_buffer(64);
    cl_uint value = 0;
    EXPECT_EQ(clEnqueueReadBuffer(queue(), buffer.get(), CL_TRUE, 0, 4, &value, 1, &event, nullptr),
              CL_INVALID_EVENT_WAIT_LIST);
    EXPECT_EQ(clEnqueueReadBuffer(queue(), memory, CL_TRUE, 0, 4, &value, 0, nullptr, nullptr), CL_INVALID_MEM_OBJECT);
    EXPECT_EQ(
        clEnqueueReadBuffer(queue(), reinterpret_cast<cl_mem>(queue()), CL_TRUE, 0, 4, &value, 0, nullptr, nullptr),
        CL_INVALID_MEM_OBJECT);
    cl_int code = CL_SUCCESS;
    auto* const device = reinterpret_cast<cl_device_id>(&alien);
    EXPECT_EQ(clCreateCommandQueue(context(), device, 0, &code), nullptr);
    EXPECT_EQ(code, CL_INVALID_DEVICE);
    const auto program = build(add_source);
    const auto add = kernel_of(program, "add");
    EXPECT_EQ(clSetKernelArg(add.get(), 0, sizeof memory, &memory), CL_INVALID_MEM_OBJECT);
    EXPECT_EQ(clSetKernelArg(add.get(), 0, 4, &value), CL_INVALID_ARG_SIZE);
    EXPECT_EQ(clSetKernelArg(add.get(), 1, 8, "12345678"), CL_INVALID_ARG_SIZE);
    EXPECT_EQ(clSetKernelArg(add.get(), 2, 4, &value), CL_INVALID_ARG_INDEX);
    size_t items = 16;
    EXPECT_EQ(clEnqueueNDRangeKernel(queue(), kernel_of(program, "add").get(), 1, nullptr, &items, nullptr, 0, nullptr,
                                     nullptr),
              CL_INVALID_KERNEL_ARGS);
}

TEST_F(objects, those_of_another_context_are_refused) {
    cl_int code = CL_SUCCESS;
    const context_handle other(clCreateContext(nullptr, 1, devices().data(), nullptr, nullptr, &code));
    ASSERT_EQ(code, CL_SUCCESS);
    const buffer_handle theirs(clCreateBuffer(other.get(), 0, 64, nullptr, &code));
    const event_handle gate(clCreateUserEvent(other.get(), &code));
    const auto ours = new_buffer(64);
    cl_uint value = 0;
    EXPECT_EQ(clEnqueueReadBuffer(queue(), theirs.get(), CL_TRUE, 0, 4, &value, 0, nullptr, nullptr),
              CL_INVALID_CONTEXT);
    EXPECT_EQ(
        clEnqueueReadBuffer(queue(), ours.get(), CL_TRUE, 0, 4, &value, 1, std::vector{gate.get()}.data(), nullptr),
        CL_INVALID_CONTEXT);
    ASSERT_EQ(clSetUserEventStatus(gate.get(), CL_COMPLETE), CL_SUCCESS);
}

TEST_F(objects, arguments_out_of_range_are_refused_at_the_call) {
    const auto buffer = new_buffer(64);
    cl_uint value = 0;
    const auto gate = new_user_event();
    auto* const wait = gate.get();
    // Also where the command would have to wait before its driver could judge.
    EXPECT_EQ(clEnqueueReadBuffer(queue(), buffer.get(), CL_FALSE, 61, 4, &value, 1, &wait, nullptr), CL_INVALID_VALUE);
    EXPECT_EQ(clEnqueueReadBuffer(queue(), buffer.get(), CL_FALSE, 0, 4, nullptr, 1, &wait, nullptr), CL_INVALID_VALUE);
    EXPECT_EQ(clEnqueueReadBuffer(queue(), buffer.get(), CL_FALSE, 0, 4, &value, 0, &wait, nullptr),
              CL_INVALID_EVENT_WAIT_LIST);
    EXPECT_EQ(clEnqueueCopyBuffer(queue(), buffer.get(), buffer.get(), 0, 4, 8, 1, &wait, nullptr),
              CL_MEM_COPY_OVERLAP);
    EXPECT_EQ(clEnqueueFillBuffer(queue(), buffer.get(), &value, 3, 0, 9, 1, &wait, nullptr), CL_INVALID_VALUE);
    const auto unreadable = new_buffer(64, CL_MEM_HOST_WRITE_ONLY);
    EXPECT_EQ(clEnqueueReadBuffer(queue(), unreadable.get(), CL_FALSE, 0, 4, &value, 1, &wait, nullptr),
              CL_INVALID_OPERATION);
    cl_int code = CL_SUCCESS;
    EXPECT_EQ(clCreateBuffer(context(), CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, 4, nullptr, &code), nullptr);
    EXPECT_EQ(code, CL_INVALID_VALUE);
    EXPECT_EQ(clCreateBuffer(context(), 0, 0, nullptr, &code), nullptr);
    EXPECT_EQ(code, CL_INVALID_BUFFER_SIZE);
    EXPECT_EQ(clCreateBuffer(context(), CL_MEM_COPY_HOST_PTR, 4, nullptr, &code), nullptr);
    EXPECT_EQ(code, CL_INVALID_HOST_PTR);
    ASSERT_EQ(clSetUserEventStatus(gate.get(), CL_COMPLETE), CL_SUCCESS);
}

TEST_F(objects, callbacks_come_with_our_event_for_every_status_and_for_failures) {
    struct seen {
        std::atomic<int> calls{0};
        std::atomic<cl_int> last{99};
        std::atomic<cl_event> event{nullptr};
    };
    const auto note = [](cl_event event, cl_int status, void* data) {
        auto& to = *static_cast<seen*>(data);
        to.event = event;
        to.last = status;
        ++to.calls;
    };
    const auto wait_for = [](const seen& what) {
        for (int i = 0; i < 20000 && what.calls == 0; ++i) std::this_thread::yield();
        for (int i = 0; i < 3000 && what.calls == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return what.calls.load();
    };
    for (std::size_t i = 0; i < devices().size(); ++i) {
        const auto gate = new_user_event();
        event_handle marker;
        ASSERT_EQ(clEnqueueMarkerWithWaitList(queue(i), 1, std::vector{gate.get()}.data(), marker.out()), CL_SUCCESS);
        seen submitted, running, complete;
        ASSERT_EQ(clSetEventCallback(marker.get(), CL_SUBMITTED, note, &submitted), CL_SUCCESS);
        ASSERT_EQ(clSetEventCallback(marker.get(), CL_RUNNING, note, &running), CL_SUCCESS);
        ASSERT_EQ(clSetEventCallback(marker.get(), CL_COMPLETE, note, &complete), CL_SUCCESS);
        ASSERT_EQ(clSetUserEventStatus(gate.get(), CL_COMPLETE), CL_SUCCESS);
        EXPECT_EQ(wait_for(complete), 1);
        EXPECT_EQ(complete.event, marker.get());
        EXPECT_EQ(complete.last, CL_COMPLETE);
        EXPECT_EQ(wait_for(submitted), 1);
        EXPECT_EQ(wait_for(running), 1);

        const auto failing = new_user_event();
        event_handle failed;
        ASSERT_EQ(clEnqueueMarkerWithWaitList(queue(i), 1, std::vector{failing.get()}.data(), failed.out()),
                  CL_SUCCESS);
        seen failure, late;
        ASSERT_EQ(clSetEventCallback(failed.get(), CL_COMPLETE, note, &failure), CL_SUCCESS);
        ASSERT_EQ(clSetUserEventStatus(failing.get(), -5), CL_SUCCESS);
        EXPECT_EQ(wait_for(failure), 1);
        EXPECT_EQ(failure.last, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
        ASSERT_EQ(clSetEventCallback(failing.get(), CL_COMPLETE, note, &late), CL_SUCCESS);
        EXPECT_EQ(wait_for(late), 1);
        EXPECT_EQ(late.last, -5);
    }
    EXPECT_EQ(clSetEventCallback(new_user_event().get(), CL_QUEUED, note, nullptr), CL_INVALID_VALUE);
}

TEST_F(objects, destructors_of_memory_objects_run_last_first_when_all_is_over) {
    struct record {
        std::atomic<int> calls{0};
        std::vector<int> order;
        cl_mem seen = nullptr;
    } noted;
    struct note {
        record* to;
        int number;
    } first{&noted, 1}, second{&noted, 2};
    const auto call = [](cl_mem object, void* data) {
        const auto& what = *static_cast<note*>(data);
        what.to->order.push_back(what.number);
        what.to->seen = object;
        ++what.to->calls;
    };
    cl_mem raw = nullptr;
    {
        const auto buffer = new_buffer(64);
        raw = buffer.get();
        const cl_uint one = 1;
        for (std::size_t i = 0; i < devices().size(); ++i)
            ASSERT_EQ(clEnqueueFillBuffer(queue(i), raw, &one, 4, 0, 64, 0, nullptr, nullptr), CL_SUCCESS);
        ASSERT_EQ(clSetMemObjectDestructorCallback(raw, call, &first), CL_SUCCESS);
        ASSERT_EQ(clSetMemObjectDestructorCallback(raw, call, &second), CL_SUCCESS);
        EXPECT_EQ(noted.calls, 0);
        for (std::size_t i = 0; i < devices().size(); ++i) ASSERT_EQ(clFinish(queue(i)), CL_SUCCESS);
    }
    for (int i = 0; i < 3000 && noted.calls < 2; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_EQ(noted.order, (std::vector<int>{2, 1}));
    EXPECT_EQ(noted.seen, raw);
}

TEST_F(objects, destructors_of_memory_objects_come_after_commands_that_wait_on_any_device) {
    const auto tell = [](cl_mem, void* data) { static_cast<std::promise<void>*>(data)->set_value(); };
    for (std::size_t i = 0; i < devices().size(); ++i)
        for (const bool of_part : {false, true}) {
            std::promise<void> end;
            auto told = end.get_future();
            const auto gate = new_user_event();
            {
                auto used = new_buffer(1 << 12);
                ASSERT_EQ(clSetMemObjectDestructorCallback(used.get(), tell, &end), CL_SUCCESS);
                const cl_buffer_region half{0, 1 << 11};
                cl_int code = CL_SUCCESS;
                if (of_part)
                    used = buffer_handle(clCreateSubBuffer(used.get(), 0, CL_BUFFER_CREATE_TYPE_REGION, &half, &code));
                ASSERT_EQ(code, CL_SUCCESS);
                const cl_uint one = 1;
                ASSERT_EQ(clEnqueueFillBuffer(queue(i), used.get(), &one, 4, 0, 1 << 11, 1,
                                              std::vector{gate.get()}.data(), nullptr),
                          CL_SUCCESS);
            }
            EXPECT_EQ(told.wait_for(std::chrono::seconds(0)), std::future_status::timeout) << "device " << i;
            ASSERT_EQ(clSetUserEventStatus(gate.get(), CL_COMPLETE), CL_SUCCESS);
            ASSERT_EQ(clFinish(queue(i)), CL_SUCCESS);
            EXPECT_EQ(told.wait_for(std::chrono::seconds(30)), std::future_status::ready) << "device " << i;
        }
}

TEST_F(objects, profiling_times_follow_one_another) {
    const auto buffer = new_buffer(1 << 20);
    for (std::size_t i = 0; i < devices().size(); ++i) {
        event_handle event;
        const cl_uint one = 1;
        ASSERT_EQ(clEnqueueFillBuffer(queue(i), buffer.get(), &one, 4, 0, 1 << 20, 0, nullptr, event.out()),
                  CL_SUCCESS);
        ASSERT_EQ(clWaitForEvents(1, std::vector{event.get()}.data()), CL_SUCCESS);
        cl_ulong before = 0;
        for (const cl_profiling_info name : {CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_SUBMIT,
                                             CL_PROFILING_COMMAND_START, CL_PROFILING_COMMAND_END}) {
            const auto time = answer<cl_ulong>(
                [&](auto... to) { return clGetEventProfilingInfo(event.get(), name, to...); });
            EXPECT_LE(before, time);
            before = time;
        }
    }
    const auto gate = new_user_event();
    cl_ulong time = 0;
    EXPECT_EQ(clGetEventProfilingInfo(gate.get(), CL_PROFILING_COMMAND_END, sizeof time, &time, nullptr),
              CL_PROFILING_INFO_NOT_AVAILABLE);
}

TEST_F(objects, an_out_of_order_queue_keeps_its_barriers_and_nothing_more) {
    for (auto* const device : devices()) {
        const auto own = new_queue(device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
        const auto gate = new_user_event(), last = new_user_event();
        const auto buffer = new_buffer(64);
        const cl_uint one = 1;
        event_handle gated, free, marked, behind;
        ASSERT_EQ(
            clEnqueueFillBuffer(own.get(), buffer.get(), &one, 4, 0, 4, 1, std::vector{gate.get()}.data(), gated.out()),
            CL_SUCCESS);
        ASSERT_EQ(clEnqueueMarkerWithWaitList(own.get(), 1, std::vector{last.get()}.data(), nullptr),
                  CL_SUCCESS); // holds nobody
        const auto other = new_buffer(64);
        ASSERT_EQ(clEnqueueFillBuffer(own.get(), other.get(), &one, 4, 0, 4, 0, nullptr, free.out()), CL_SUCCESS);
        EXPECT_EQ(clWaitForEvents(1, std::vector{free.get()}.data()), CL_SUCCESS);
        ASSERT_EQ(clEnqueueBarrierWithWaitList(own.get(), 1, std::vector{gated.get()}.data(), marked.out()),
                  CL_SUCCESS);
        ASSERT_EQ(clEnqueueFillBuffer(own.get(), other.get(), &one, 4, 0, 4, 0, nullptr, behind.out()), CL_SUCCESS);
        EXPECT_GT(status_of(behind.get()), CL_COMPLETE);
        ASSERT_EQ(clSetUserEventStatus(gate.get(), CL_COMPLETE), CL_SUCCESS);
        EXPECT_EQ(clWaitForEvents(1, std::vector{behind.get()}.data()), CL_SUCCESS);
        EXPECT_EQ(status_of(gated.get()), CL_COMPLETE);
        EXPECT_EQ(status_of(marked.get()), CL_COMPLETE);
        ASSERT_EQ(clSetUserEventStatus(last.get(), CL_COMPLETE), CL_SUCCESS);
    }
}

TEST_F(objects, commands_that_need_no_driver_have_times) {
    for (auto* const device : devices()) {
        const auto own = new_queue(device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE);
        const auto gate = new_user_event();
        event_handle marker;
        ASSERT_EQ(clEnqueueMarkerWithWaitList(own.get(), 1, std::vector{gate.get()}.data(), marker.out()), CL_SUCCESS);
        ASSERT_EQ(clSetUserEventStatus(gate.get(), CL_COMPLETE), CL_SUCCESS);
        ASSERT_EQ(clWaitForEvents(1, std::vector{marker.get()}.data()), CL_SUCCESS);
        cl_ulong before = 0;
        for (cl_profiling_info name = CL_PROFILING_COMMAND_QUEUED; name <= CL_PROFILING_COMMAND_END; ++name) {
            const auto time = answer<cl_ulong>(
                [&](auto... to) { return clGetEventProfilingInfo(marker.get(), name, to...); });
            EXPECT_GT(time, 0U);
            EXPECT_LE(before, time);
            before = time;
        }
    }
}

TEST_F(objects, a_failed_event_fails_a_command_that_waits_for_another_one_too) {
    const auto never = new_user_event();
    for (std::size_t i = 0; i < devices().size(); ++i) {
        const auto failed = new_user_event();
        ASSERT_EQ(clSetUserEventStatus(failed.get(), -5), CL_SUCCESS);
        event_handle marker;
        ASSERT_EQ(clEnqueueMarkerWithWaitList(queue(i), 2, std::vector{never.get(), failed.get()}.data(), marker.out()),
                  CL_SUCCESS);
        if (std::getenv("CAUSEWAY_CLUSTER") != nullptr)
            continue; // each rank waits for the user event before it tells the program
        EXPECT_EQ(clWaitForEvents(1, std::vector{marker.get()}.data()), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
        EXPECT_EQ(clFinish(queue(i)), CL_SUCCESS);
    }
    ASSERT_EQ(clSetUserEventStatus(never.get(), CL_COMPLETE), CL_SUCCESS);
}

TEST_F(objects, a_map_that_is_refused_is_not_counted) {
    const auto buffer = new_buffer(64);
    cl_event none = nullptr;
    cl_int code = CL_SUCCESS;
    EXPECT_EQ(clEnqueueMapBuffer(last_queue(), buffer.get(), CL_FALSE, CL_MAP_READ, 0, 64, 1, &none, nullptr, &code),
              nullptr);
    EXPECT_EQ(code, CL_INVALID_EVENT_WAIT_LIST);
    const auto failed = new_user_event();
    ASSERT_EQ(clSetUserEventStatus(failed.get(), -5), CL_SUCCESS);
    EXPECT_EQ(clEnqueueMapBuffer(last_queue(), buffer.get(), CL_TRUE, CL_MAP_READ, 0, 64, 1,
                                 std::vector{failed.get()}.data(), nullptr, &code),
              nullptr);
    EXPECT_EQ(code, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    EXPECT_EQ(answer<cl_uint>([&](auto... to) { return clGetMemObjectInfo(buffer.get(), CL_MEM_MAP_COUNT, to...); }),
              0U);
}

TEST_F(objects, extensions_have_the_same_names_with_and_without_versions) {
    struct name_version { // cl_name_version of OpenCL 3.0
        cl_uint version;
        char name[64];
    };
    constexpr cl_device_info extensions_with_version = 0x1060, c_all_versions = 0x1066;
    for (auto* const device : devices()) {
        size_t size = 0;
        ASSERT_EQ(clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, 0, nullptr, &size), CL_SUCCESS);
        std::string names(size, '\0');
        ASSERT_EQ(clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, size, names.data(), nullptr), CL_SUCCESS);
        for (const auto what : {extensions_with_version, c_all_versions}) {
            ASSERT_EQ(clGetDeviceInfo(device, what, 0, nullptr, &size), CL_SUCCESS);
            std::vector<name_version> list(size / sizeof(name_version));
            ASSERT_FALSE(list.empty());
            ASSERT_EQ(clGetDeviceInfo(device, what, size, list.data(), nullptr), CL_SUCCESS);
            for (const auto& one : list) {
                if (what == c_all_versions) {
                    EXPECT_LE(one.version >> 22, 1U) << "of a platform of OpenCL 1.2";
                } else {
                    EXPECT_NE(names.find(one.name), std::string::npos) << one.name;
                }
            }
        }
    }
}

TEST_F(objects, a_device_answers_the_same_questions_on_every_rank) {
    if (std::getenv("CAUSEWAY_CLUSTER") == nullptr) GTEST_SKIP() << "one rank";
    for (auto* const device : devices())
        for (cl_device_info name = 0x4040; name < 0x4300; ++name) {
            std::size_t size = 0;
            EXPECT_EQ(clGetDeviceInfo(device, name, 0, nullptr, &size), CL_INVALID_VALUE) << std::hex << name;
        }
}

} // namespace
