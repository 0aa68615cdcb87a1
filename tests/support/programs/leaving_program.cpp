// SPDX-License-Identifier: Apache-2.0
// A host program that leaves while commands run, wait and call back, and asks for one of them while the process ends.
#include <CL/cl.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t large = 16 << 20;
char host[large]; // commands read it until the end
cl_command_queue last_queue = nullptr;

std::atomic<bool> is_over{false};
std::promise<void> called_late, called;

/// What the program's other objects would find if they were called back now.
struct last_object {
    last_object() = default;
    last_object(const last_object&) = delete;
    last_object& operator=(const last_object&) = delete;
    ~last_object() {
        is_over = true;
        if (called_late.get_future().wait_for(std::chrono::milliseconds(200)) == std::future_status::ready) {
            std::puts("called back after the end");
            std::fflush(stdout);
            std::_Exit(1);
        }
    }
} last;

/// More of them than there is time for.
void CL_CALLBACK on_end(cl_event, cl_int, void*) {
    static std::once_flag first;
    std::call_once(first, [] { called.set_value(); });
    if (is_over.exchange(false)) called_late.set_value();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

void finish_at_exit() {
    if (clFinish(last_queue) != CL_SUCCESS) std::puts("clFinish failed");
}

} // namespace

int main() {
    cl_platform_id platform = nullptr;
    cl_device_id devices[8];
    cl_uint count = 0;
    if (clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 8, devices, &count) != CL_SUCCESS)
        return 1;
    cl_int code = CL_SUCCESS;
    auto* const context = clCreateContext(nullptr, count, devices, nullptr, nullptr, &code);
    auto* const gate = clCreateUserEvent(context, &code);
    auto* const open = clCreateUserEvent(context, &code);
    std::atexit(finish_at_exit);
    for (cl_uint i = 0; i < count; ++i) {
        auto* const queue = clCreateCommandQueue(context, devices[i], 0, &code);
        auto* const gated = clCreateCommandQueue(context, devices[i], 0, &code);
        auto* const buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, large, nullptr, &code);
        if (code != CL_SUCCESS) return 1;
        for (int round = 0; round < 5; ++round) {
            cl_event written = nullptr;
            if (clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, large, host, round == 0 ? 1 : 0,
                                     round == 0 ? &open : nullptr, &written) != CL_SUCCESS ||
                clSetEventCallback(written, CL_COMPLETE, on_end, nullptr) != CL_SUCCESS ||
                clEnqueueMarkerWithWaitList(gated, 1, &gate, nullptr) != CL_SUCCESS)
                return 1;
        }
        last_queue = queue;
    }
    // A chain from device to device, which keeps the platform busy for longer than the process lives.
    auto* const buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof(cl_uint), nullptr, &code);
    std::vector<cl_command_queue> queues;
    for (cl_uint i = 0; i < count; ++i) queues.push_back(clCreateCommandQueue(context, devices[i], 0, &code));
    cl_event before = open;
    for (cl_uint step = 0; step < 2000; ++step) {
        cl_event after = nullptr;
        if (clEnqueueFillBuffer(queues[step % count], buffer, &step, sizeof step, 0, sizeof step, 1, &before, &after) !=
            CL_SUCCESS)
            return 1;
        before = after;
    }
    for (int i = 0; i < 20; ++i)
        if (clSetEventCallback(open, CL_COMPLETE, on_end, nullptr) != CL_SUCCESS) return 1;
    if (clSetUserEventStatus(open, CL_COMPLETE) != CL_SUCCESS ||
        called.get_future().wait_for(std::chrono::seconds(30)) != std::future_status::ready)
        return 1;
    std::puts("left");
    return 0;
}
