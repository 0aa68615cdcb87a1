// SPDX-License-Identifier: Apache-2.0
// A C++ program with the C++ bindings' manners: an out-of-order queue, a user event, images, a second thread that
// enqueues, and a child process that calls nothing.
#include <CL/cl.h>

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

void check(cl_int code, const char* what) {
    if (code == CL_SUCCESS) return;
    std::fprintf(stderr, "%s: code %d\n", what, code);
    std::exit(1);
}

const char* const source = R"(
__kernel void next(__global int* values) { values[get_global_id(0) + get_global_size(0) * get_global_id(1)] += 1; }
)";

} // namespace

int main() {
    cl_int code = CL_SUCCESS;
    cl_platform_id platform = nullptr;
    cl_device_id device = nullptr;
    check(clGetPlatformIDs(1, &platform, nullptr), "clGetPlatformIDs");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr), "clGetDeviceIDs");
    const auto context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code);
    check(code, "clCreateContext");
    const auto queue = clCreateCommandQueue(context, device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &code);
    check(code, "clCreateCommandQueue");
    const char* text = source;
    const auto program = clCreateProgramWithSource(context, 1, &text, nullptr, &code);
    check(code, "clCreateProgramWithSource");
    check(clBuildProgram(program, 0, nullptr, nullptr, nullptr, nullptr), "clBuildProgram");
    const auto kernel = clCreateKernel(program, "next", &code);
    check(code, "clCreateKernel");
    std::vector<int> values(1024, 7);
    const auto buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, values.size() * sizeof(int),
                                       values.data(), &code);
    check(code, "clCreateBuffer");
    check(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), "clSetKernelArg");
    // A launch that waits for the program itself.
    const auto go = clCreateUserEvent(context, &code);
    check(code, "clCreateUserEvent");
    const std::array<size_t, 2> global{64, 16}, local{8, 4};
    cl_event first = nullptr, second = nullptr;
    check(clEnqueueNDRangeKernel(queue, kernel, 2, nullptr, global.data(), local.data(), 1, &go, &first), "launch");
    std::vector<int> result(values.size());
    const auto read = [&] {
        check(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, result.size() * sizeof(int), result.data(), 0, nullptr,
                                  nullptr),
              "read");
    };
    std::thread other([&] {
        check(clEnqueueNDRangeKernel(queue, kernel, 2, nullptr, global.data(), local.data(), 1, &first, &second),
              "launch");
        check(clSetUserEventStatus(go, CL_COMPLETE), "clSetUserEventStatus");
        check(clWaitForEvents(1, &second), "clWaitForEvents");
        read();
    });
    other.join();
    check(clWaitForEvents(1, &second), "clWaitForEvents");
    read();
    for (const int each : result)
        if (each != 9) return 1;
    if (const auto child = fork(); child == 0)
        std::exit(0); // with handlers of its parent
    else
        waitpid(child, nullptr, 0);
    clReleaseEvent(go);
    clReleaseEvent(first);
    clReleaseEvent(second);
    clReleaseMemObject(buffer);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return 0;
}
