// SPDX-License-Identifier: Apache-2.0
// Runs a kernel on each device of the first platform, some of them behind a user event, and prints how many devices
// there are.
#include <CL/cl.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr std::size_t size = 1 << 12;
constexpr int rounds = 5;

void check(cl_int code, const char* what) {
    if (code == CL_SUCCESS) return;
    std::fprintf(stderr, "every_device: %s: %d\n", what, code);
    std::exit(1);
}

template <class Object> Object made(Object object, cl_int code, const char* what) {
    check(code, what);
    return object;
}

} // namespace

int main() {
    cl_platform_id platform = nullptr;
    cl_uint count = 0;
    cl_int code = CL_SUCCESS;
    check(clGetPlatformIDs(1, &platform, nullptr), "clGetPlatformIDs");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count), "clGetDeviceIDs");
    std::vector<cl_device_id> devices(count);
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, devices.data(), nullptr), "clGetDeviceIDs");
    auto* const context = made(clCreateContext(nullptr, count, devices.data(), nullptr, nullptr, &code), code,
                               "clCreateContext");
    const char* source = "kernel void add_one(global int *x) { x[get_global_id(0)] += 1; }";
    auto* const program = made(clCreateProgramWithSource(context, 1, &source, nullptr, &code), code,
                               "clCreateProgramWithSource");
    check(clBuildProgram(program, count, devices.data(), nullptr, nullptr, nullptr), "clBuildProgram");
    auto* const kernel = made(clCreateKernel(program, "add_one", &code), code, "clCreateKernel");
    auto* const gate = made(clCreateUserEvent(context, &code), code, "clCreateUserEvent");
    std::vector<cl_command_queue> queues;
    std::vector<cl_mem> buffers;
    for (auto* const device : devices) {
        queues.push_back(made(clCreateCommandQueue(context, device, 0, &code), code, "clCreateCommandQueue"));
        buffers.push_back(made(clCreateBuffer(context, CL_MEM_READ_WRITE, size * sizeof(cl_int), nullptr, &code), code,
                               "clCreateBuffer"));
        const cl_int zero = 0;
        check(clEnqueueFillBuffer(queues.back(), buffers.back(), &zero, sizeof zero, 0, size * sizeof zero, 1, &gate,
                                  nullptr),
              "clEnqueueFillBuffer");
        check(clSetKernelArg(kernel, 0, sizeof(cl_mem), &buffers.back()), "clSetKernelArg");
        for (int i = 0; i < rounds; ++i)
            check(clEnqueueNDRangeKernel(queues.back(), kernel, 1, nullptr, &size, nullptr, 0, nullptr, nullptr),
                  "clEnqueueNDRangeKernel");
    }
    check(clSetUserEventStatus(gate, CL_COMPLETE), "clSetUserEventStatus");
    for (std::size_t i = 0; i < devices.size(); ++i) {
        cl_int last = 0;
        check(clEnqueueReadBuffer(queues[i], buffers[i], CL_TRUE, (size - 1) * sizeof last, sizeof last, &last, 0,
                                  nullptr, nullptr),
              "clEnqueueReadBuffer");
        if (last != rounds) std::fprintf(stderr, "every_device: %d instead of %d\n", last, rounds);
        if (last != rounds) return 1;
    }
    std::printf("%u devices\n", count);
    return 0;
}
