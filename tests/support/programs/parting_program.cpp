// SPDX-License-Identifier: Apache-2.0
// A host program that does one thing more on one rank than on the other, as those do that look at the time.
#include <CL/cl.h>

#include <cstdio>
#include <cstdlib>

int main() {
    const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
    if (rank == nullptr) rank = std::getenv("PMI_RANK");
    cl_platform_id platform = nullptr;
    cl_device_id devices[8];
    cl_uint count = 0;
    if (rank == nullptr || clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 8, devices, &count) != CL_SUCCESS || count < 2)
        return 1;
    cl_int code = CL_SUCCESS;
    auto* const context = clCreateContext(nullptr, count, devices, nullptr, nullptr, &code);
    auto* const queue = clCreateCommandQueue(context, devices[0], 0, &code);
    auto* const buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 64, nullptr, &code);
    const cl_uint one = 1;
    for (int i = 0; i < (*rank == '1' ? 3 : 2); ++i)
        clEnqueueFillBuffer(queue, buffer, &one, sizeof one, 0, 64, 0, nullptr, nullptr);
    clFinish(queue);
    std::puts("nobody noticed");
    return 0;
}
