// SPDX-License-Identifier: Apache-2.0
// Programs that part: on one rank something is not as on the other. The word says what.
#include <CL/cl.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <string>
#include <thread>

int main(int argc, char** argv) {
    const std::string what = argc > 1 ? argv[1] : "";
    const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
    if (rank == nullptr) rank = std::getenv("PMI_RANK");
    if (rank == nullptr) return 1;
    const bool is_first = *rank == '0';
    const bool is_other = *rank == '1';
    if (what == "large" && is_other) setenv("POCL_MEMORY_LIMIT", "1", 1); // GiB
    if (what == "bare" && is_other) setenv("CAUSEWAY_DEVICES", "none", 1);
    // As test runners do.
    const bool has_one_call_more = what == "count" || what == "thread" || what == "captured" || what == "unread" ||
                                   what == "broken";
    if (what == "captured" && std::freopen("/dev/null", "w", stderr) == nullptr) return 1;
    // Pipes that nobody reads: until they are full, or at all.
    int ends[2];
    if (what == "unread" || what == "broken") {
        if (pipe(ends) != 0 || dup2(ends[1], STDERR_FILENO) < 0) return 1;
        fcntl(STDERR_FILENO, F_SETFL, O_NONBLOCK);
        const char more[4096] = "";
        while (what == "unread" && write(STDERR_FILENO, more, sizeof more) > 0) {}
        fcntl(STDERR_FILENO, F_SETFL, 0);
        if (what == "broken") close(ends[0]);
    }
    cl_platform_id platform = nullptr;
    cl_device_id devices[8];
    cl_uint count = 0;
    const auto find = [&] {
        if (clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS ||
            clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 8, devices, &count) != CL_SUCCESS)
            count = 0;
    };
    if (what == "thread")
        std::thread(find).join(); // who asks first need not be who enqueues
    else
        find();
    if (count < 2) return 1;
    cl_int code = CL_SUCCESS;
    auto* const context = clCreateContext(nullptr, count, devices, nullptr, nullptr, &code);
    if (context == nullptr) return 1;
    auto* const queue = clCreateCommandQueue(context, devices[0], 0, &code);
    auto* const buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, what == "size" && is_other ? 128 : 64, nullptr,
                                        &code);
    cl_uint one = 1;
    const auto fill = [&](std::size_t bytes) {
        clEnqueueFillBuffer(queue, buffer, &one, sizeof one, 0, bytes, 0, nullptr, nullptr);
    };
    for (int i = 0; i < (has_one_call_more && is_other ? 3 : 2); ++i) fill(64);
    if (what == "pattern" && is_other) one = 2;
    if (what == "function" && is_other)
        clEnqueueCopyBuffer(queue, buffer, buffer, 0, 32, 32, 0, nullptr, nullptr);
    else
        fill(64);
    if (what == "large") {
        // What rank 0's drivers allow: more than the other one has.
        cl_ulong most = 0;
        for (cl_uint i = 0; i < count; ++i) {
            cl_ulong allowed = 0;
            clGetDeviceInfo(devices[i], CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof allowed, &allowed, nullptr);
            most = std::max(most, allowed);
        }
        auto* const large = clCreateBuffer(context, CL_MEM_READ_WRITE,
                                           std::min<std::size_t>(most, std::size_t{3} << 30), nullptr, &code);
        auto* const there = clCreateCommandQueue(context, devices[count - 1], 0, &code);
        clEnqueueFillBuffer(there, large, &one, sizeof one, 0, 64, 0, nullptr, nullptr);
        clFinish(there);
    }
    if (what == "killed" && is_other) std::raise(SIGKILL);
    if (what == "left" && !is_other) return 0;
    if (what == "left_early") {
        // Nobody meets any more, and the contents are the engine's to move.
        auto* const there = clCreateCommandQueue(context, devices[count - 1], 0, &code);
        if (is_first) std::exit(1);
        cl_uint values[16];
        clEnqueueReadBuffer(there, buffer, CL_TRUE, 0, sizeof values, values, 0, nullptr, nullptr);
    }
    if (what == "status") {
        auto* const gate = clCreateUserEvent(context, &code);
        clEnqueueMarkerWithWaitList(queue, 1, &gate, nullptr);
        clSetUserEventStatus(gate, is_other ? -1 : CL_COMPLETE);
    }
    if (what == "top_bits") {
        const double numbers[2] = {is_other ? -1.0 : 1.0, is_other ? 1.0 : -1.0};
        clEnqueueFillBuffer(queue, buffer, numbers, sizeof numbers, 0, 64, 0, nullptr, nullptr);
    }
    if (what == "list" || what == "unmap") {
        cl_event filled[2] = {};
        void* mapped[2] = {};
        for (const cl_uint i : {0U, 1U}) {
            clEnqueueFillBuffer(queue, buffer, &one, sizeof one, 0, 64, 0, nullptr, &filled[i]);
            mapped[i] = clEnqueueMapBuffer(queue, buffer, CL_FALSE, CL_MAP_READ, 32 * i, 32, 0, nullptr, nullptr,
                                           &code);
        }
        if (what == "list")
            clWaitForEvents(1, &filled[is_other ? 1 : 0]);
        else
            clEnqueueUnmapMemObject(queue, buffer, mapped[is_other ? 1 : 0], 0, nullptr, nullptr);
    }
    if (what == "pitch") {
        cl_uchar pixels[64] = {};
        const cl_image_format format = {CL_R, CL_UNSIGNED_INT8};
        cl_image_desc shape{};
        shape.image_type = CL_MEM_OBJECT_IMAGE2D;
        shape.image_width = shape.image_height = 4;
        shape.image_row_pitch = is_other ? 8 : 16;
        clCreateImage(context, CL_MEM_COPY_HOST_PTR, &format, &shape, pixels, &code);
    }
    if (what == "callback") {
        static auto* const in = queue;
        cl_event over = nullptr;
        clEnqueueMarkerWithWaitList(queue, 0, nullptr, &over);
        static std::promise<void> came_back;
        const auto enqueue = [](cl_event, cl_int, void*) {
            clEnqueueMarkerWithWaitList(in, 0, nullptr, nullptr);
            came_back.set_value();
        };
        clSetEventCallback(over, CL_COMPLETE, enqueue, nullptr);
        came_back.get_future().wait_for(std::chrono::seconds(30));
    }
    if (what == "busy" || what == "ahead") {
        // For as long as the watchdog needs.
        const auto rest = [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(1800)); };
        clEnqueueNativeKernel(queue, rest, nullptr, 0, 0, nullptr, nullptr, 0, nullptr, nullptr);
        if (what == "ahead") // one rank alone waits
            clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, sizeof one, &one, 0, nullptr, nullptr);
    }
    // Each of the two waits in a call of its own.
    if (what == "kind") {
        const char* source = "__kernel void one(__global uint* to) { to[0] = 1; }";
        auto* const program = clCreateProgramWithSource(context, 1, &source, nullptr, &code);
        clBuildProgram(program, 0, nullptr, "", nullptr, nullptr);
        if (is_other) clCreateKernel(program, "one", &code);
    }
    if (what == "owner" || what == "question") {
        cl_command_queue each[2] = {};
        cl_event filled[2] = {};
        for (const cl_uint i : {0U, 1U}) {
            each[i] = clCreateCommandQueue(context, devices[i == 0 ? 0 : count - 1], 0, &code);
            clEnqueueFillBuffer(each[i], buffer, &one, sizeof one, 0, 64, 0, nullptr, &filled[i]);
        }
        cl_int status = CL_QUEUED;
        if (what == "owner")
            clFinish(each[is_other ? 1 : 0]);
        else // goes into no record of calls
            clGetEventInfo(filled[is_other ? 1 : 0], CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status,
                           nullptr);
    }
    if (what == "read" || what == "read_size" || what == "argument") {
        // Nobody meets: all that goes from rank to rank is what is read.
        auto* const second = clCreateBuffer(context, CL_MEM_READ_WRITE, 64, nullptr, &code);
        clEnqueueFillBuffer(queue, second, &one, sizeof one, 0, 64, 0, nullptr, nullptr);
        if (what == "argument") {
            const char* source = "__kernel void add(__global uint* to, uint value) { to[get_global_id(0)] += value; }";
            auto* const program = clCreateProgramWithSource(context, 1, &source, nullptr, &code);
            clBuildProgram(program, 0, nullptr, "", nullptr, nullptr);
            auto* const kernel = clCreateKernel(program, "add", &code);
            const cl_uint value = is_other ? 77 : 5;
            const std::size_t items = 16;
            clSetKernelArg(kernel, 0, sizeof buffer, &buffer);
            clSetKernelArg(kernel, 1, sizeof value, &value);
            clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &items, nullptr, 0, nullptr, nullptr);
        }
        cl_uint values[16] = {};
        clEnqueueReadBuffer(queue, what == "read" && is_other ? second : buffer, CL_TRUE, 0,
                            what == "read_size" && is_other ? 32 : 64, values, 0, nullptr, nullptr);
        return 0;
    }
    if (what == "end" || what == "each") {
        // Nothing comes from another rank: each reads what it has.
        auto* const there = clCreateCommandQueue(context, devices[count - 1], 0, &code);
        auto* const own = what == "each" && is_other ? there : queue;
        cl_uint values[16] = {};
        clEnqueueFillBuffer(own, buffer, &one, sizeof one, 0, 64, 0, nullptr, nullptr);
        clEnqueueReadBuffer(own, buffer, CL_TRUE, 0, sizeof values, values, 0, nullptr, nullptr);
        if (what == "end" && is_other) clCreateBuffer(context, CL_MEM_READ_WRITE, 64, nullptr, &code);
        return 0;
    }
    if (what == "crossed" || what == "skipped") {
        // Each waits for contents or an end that the other one never sends.
        auto* const there = clCreateCommandQueue(context, devices[count - 1], 0, &code);
        cl_uint values[16] = {};
        if (what == "crossed") {
            auto* const near = is_other ? there : queue;
            auto* const far = is_other ? queue : there;
            clEnqueueFillBuffer(far, buffer, &one, sizeof one, 0, 64, 0, nullptr, nullptr);
            clEnqueueReadBuffer(near, buffer, CL_TRUE, 0, sizeof values, values, 0, nullptr, nullptr);
        } else if (is_other) {
            clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof values, values, 0, nullptr, nullptr);
        }
    }
    std::thread later;
    if (what == "stuck" || what == "polling") {
        auto* const gate = clCreateUserEvent(context, &code);
        cl_event over = nullptr;
        clEnqueueMarkerWithWaitList(queue, 1, &gate, &over);
        // As long as the watchdog needs.
        later = std::thread([gate] {
            std::this_thread::sleep_for(std::chrono::milliseconds(1800));
            clSetUserEventStatus(gate, CL_COMPLETE);
        });
        cl_int status = what == "polling" ? CL_QUEUED : CL_COMPLETE;
        while (status > CL_COMPLETE)
            if (clGetEventInfo(over, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr) != CL_SUCCESS)
                break;
    }
    if (what == "second") {
        auto* const gate = clCreateUserEvent(context, &code);
        clEnqueueMarkerWithWaitList(queue, 1, &gate, nullptr);
        later = std::thread([queue, gate] {
            std::this_thread::sleep_for(std::chrono::milliseconds(300)); // the other one is in clFinish
            clEnqueueMarkerWithWaitList(queue, 0, nullptr, nullptr);
            clSetUserEventStatus(gate, CL_COMPLETE);
        });
    }
    if (what == "beside") {
        // A thread that asks has no order with the calls of another.
        cl_event over = nullptr;
        clEnqueueMarkerWithWaitList(queue, 0, nullptr, &over);
        if (is_other) fill(64);
        std::thread([over] {
            cl_int status = 0;
            clGetEventInfo(over, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
        }).join();
        if (is_first) fill(64);
    }
    if (what == "asking") {
        auto* const gate = clCreateUserEvent(context, &code);
        cl_event over = nullptr;
        clEnqueueMarkerWithWaitList(queue, 1, &gate, &over);
        const auto ask = [over] {
            for (int i = 0; i < 100000; ++i) {
                cl_int status = 0;
                clGetEventInfo(over, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
            }
        };
        later = std::thread(ask);
        ask();
    }
    clFinish(queue);
    if (later.joinable()) later.join();
    std::puts("nobody noticed");
    return 0;
}
