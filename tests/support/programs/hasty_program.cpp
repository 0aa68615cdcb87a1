// SPDX-License-Identifier: Apache-2.0
// A program of a cluster that leaves while its last contents have just moved, and its device may be measured in
// passing. When drivers shut down nobody may call them any more.
#include <CL/cl.h>

#include <dlfcn.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <vector>

namespace {

std::atomic<bool> drivers_end{false};
std::promise<void> late;

/// Stands for the end of a driver: looks for a while whether somebody calls.
void end_driver() {
    drivers_end = true;
    if (late.get_future().wait_for(std::chrono::milliseconds(200)) != std::future_status::ready) return;
    std::puts("a driver was called at its end");
    std::fflush(stdout);
    std::_Exit(1);
}

} // namespace

/// What the engine and measuring call all the time, in place of the loader's.
__attribute__((visibility("default"))) cl_int clReleaseEvent(cl_event event) {
    static auto* const loaders = reinterpret_cast<decltype(&clReleaseEvent)>(dlsym(RTLD_NEXT, "clReleaseEvent"));
    if (drivers_end.exchange(false)) late.set_value();
    return loaders(event);
}

int main() {
    cl_platform_id platform = nullptr;
    cl_device_id devices[8];
    cl_uint count = 0;
    if (clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 8, devices, &count) != CL_SUCCESS || count < 2)
        return 1;
    std::atexit(end_driver); // as those of the drivers, which are loaded now
    cl_int code = CL_SUCCESS;
    auto* const context = clCreateContext(nullptr, count, devices, nullptr, nullptr, &code);
    constexpr std::size_t size = 1 << 20;
    auto* const buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, size, nullptr, &code);
    cl_command_queue queues[2] = {clCreateCommandQueue(context, devices[0], 0, &code),
                                  clCreateCommandQueue(context, devices[count - 1], 0, &code)};
    cl_event last = nullptr;
    for (cl_uint step = 0; step < 300; ++step) {
        cl_event after = nullptr;
        if (code != CL_SUCCESS ||
            clEnqueueFillBuffer(queues[step % 2], buffer, &step, sizeof step, 0, size / 2, last == nullptr ? 0 : 1,
                                last == nullptr ? nullptr : &last, &after) != CL_SUCCESS)
            return 1;
        last = after;
    }
    if (clWaitForEvents(1, &last) != CL_SUCCESS) return 1;
    std::puts("left");
    return 0;
}
