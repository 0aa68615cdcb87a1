// SPDX-License-Identifier: Apache-2.0
// A host program with a global object that uses OpenCL once more when everything else has ended.
#include <CL/cl.h>

#include <cstdio>
#include <vector>

namespace {

struct application {
    cl_context context = nullptr;
    std::vector<cl_command_queue> queues;

    application() = default;
    application(const application&) = delete;
    application& operator=(const application&) = delete;
    ~application() {
        for (auto* const queue : queues)
            if (clFinish(queue) != CL_SUCCESS || clReleaseCommandQueue(queue) != CL_SUCCESS)
                std::puts("clFinish failed");
        if (context != nullptr) clReleaseContext(context);
        std::puts("farewell");
    }
};

application everything;

} // namespace

int main() {
    cl_platform_id platform = nullptr;
    cl_device_id devices[8];
    cl_uint count = 0;
    if (clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 8, devices, &count) != CL_SUCCESS)
        return 1;
    cl_int code = CL_SUCCESS;
    everything.context = clCreateContext(nullptr, count, devices, nullptr, nullptr, &code);
    auto* const buffer = clCreateBuffer(everything.context, CL_MEM_READ_WRITE, sizeof(cl_uint), nullptr, &code);
    for (cl_uint i = 0; i < count; ++i) {
        everything.queues.push_back(clCreateCommandQueue(everything.context, devices[i], 0, &code));
        if (code != CL_SUCCESS || clEnqueueFillBuffer(everything.queues[i], buffer, &i, sizeof i, 0, sizeof i, 0,
                                                      nullptr, nullptr) != CL_SUCCESS)
            return 1;
    }
    cl_uint last = 0;
    if (clEnqueueReadBuffer(everything.queues[0], buffer, CL_TRUE, 0, sizeof last, &last, 0, nullptr, nullptr) !=
        CL_SUCCESS)
        return 1;
    clReleaseMemObject(buffer);
    std::printf("the result is %s\n", last == count - 1 ? "right" : "wrong");
    return 0;
}
