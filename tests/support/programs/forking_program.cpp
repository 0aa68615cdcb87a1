// SPDX-License-Identifier: Apache-2.0
// Shows a command in the timeline; a child of its own shows another one, and ends as any process does.
#include <CL/cl.h>
#include <causeway/trace.h>

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>

namespace {

void check(cl_int code, const char* what) {
    if (code == CL_SUCCESS) return;
    std::fprintf(stderr, "forking_program: %s: %d\n", what, code);
    std::exit(1);
}

} // namespace

int main() {
    cl_platform_id platform = nullptr;
    cl_device_id device = nullptr;
    check(clGetPlatformIDs(1, &platform, nullptr), "clGetPlatformIDs");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr), "clGetDeviceIDs");
    cl_int code = CL_SUCCESS;
    const auto context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code);
    check(code, "clCreateContext");
    const auto queue = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &code);
    check(code, "clCreateCommandQueue");
    const auto buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 64, nullptr, &code);
    check(code, "clCreateBuffer");
    std::array<cl_event, 2> events{};
    const cl_uchar zero = 0;
    for (auto& event : events)
        check(clEnqueueFillBuffer(queue, buffer, &zero, 1, 0, 64, 0, nullptr, &event), "clEnqueueFillBuffer");
    check(clWaitForEvents(2, events.data()), "clWaitForEvents");
    if (causeway_trace_command(events[0], "the parent's", 0, nullptr) != 1) return 1;
    const auto child = fork();
    if (child == 0) {
        (void)causeway_trace_command(events[1], "the child's", 0, nullptr);
        std::exit(0);
    }
    int status = 1;
    return waitpid(child, &status, 0) == child && status == 0 ? 0 : 1;
}
