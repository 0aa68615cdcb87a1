// SPDX-License-Identifier: Apache-2.0
// Does once, in a process of its own, what a driver may not survive: memory of Vulkan in OpenCL and in CUDA, on every device.
#include "bridge/device_bridge.hpp"
#include "cl/calls.hpp"
#include "cl/external_memory.hpp"

#include <CL/cl.h>

#include <cstdio>
#include <exception>
#include <vector>

using namespace causeway;

namespace {

constexpr std::size_t bytes = std::size_t{2} << 20;

std::vector<cl_device_id> devices() {
    cl_platform_id platforms[64];
    cl_uint count = 0;
    std::vector<cl_device_id> all;
    if (clGetPlatformIDs(64, platforms, &count) != CL_SUCCESS) return all;
    for (cl_uint i = 0; i < count && i < 64; ++i) {
        cl_device_id found[64];
        cl_uint there = 0;
        if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_GPU, 64, found, &there) == CL_SUCCESS)
            all.insert(all.end(), found, found + (there < 64 ? there : 64));
    }
    return all;
}

void try_device(bridge::device_bridge& bridge, cl_device_id device) {
    cl_int code = CL_SUCCESS;
    const auto context = cl::context::adopt(clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code));
    cl::check(code, "creating a context");
    const auto queue = cl::queue::adopt(clCreateCommandQueue(context.get(), device, 0, &code));
    cl::check(code, "creating a command queue");
    const cl::external_memory external(device);
    if (!external) return;
    const auto uuid = cl::facts_of(device).uuid;
    bridge.start(uuid);
    const auto window = bridge.create(uuid, bytes);
    const auto buffer = external.import(context.get(), window->share().release(), window->bytes());
    const cl_uint pattern = 0x5a5a5a5a;
    cl::check(external.acquire(queue.get(), buffer.get()), "acquiring");
    cl::check(clEnqueueFillBuffer(queue.get(), buffer.get(), &pattern, sizeof pattern, 0, bytes, 0, nullptr, nullptr), "filling");
    cl::check(external.release(queue.get(), buffer.get(), nullptr), "releasing");
    cl::check(clFinish(queue.get()), "clFinish");
}

} // namespace

int main() {
    try {
        const auto bridge = bridge::make_nvidia_bridge();
        for (auto* const device : devices())
            if (bridge->has(cl::facts_of(device).uuid)) try_device(*bridge, device);
        std::puts("works");
        std::fflush(stdout);
    } catch (const std::exception& error) {
        std::printf("refuses: %s\n", error.what());
    }
}
