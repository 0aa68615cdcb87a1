// SPDX-License-Identifier: Apache-2.0
// A host program that leaves while drivers still compile and run its kernels; with an argument it lets go of all
// before.
#include <CL/cl.h>

#include <cstdio>
#include <string>
#include <vector>

int main(int count_of_words, char**) {
    cl_platform_id platform = nullptr;
    cl_device_id devices[8];
    cl_uint count = 0;
    if (clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 8, devices, &count) != CL_SUCCESS)
        return 1;
    cl_int code = CL_SUCCESS;
    auto* const context = clCreateContext(nullptr, count, devices, nullptr, nullptr, &code);
    constexpr int kernels = 4;
    std::string source;
    for (int i = 0; i < kernels; ++i)
        source += "__kernel void k" + std::to_string(i) +
                  "(__global float* a) { a[get_global_id(0)] += " + std::to_string(i) + "; }";
    const char* text = source.c_str();
    auto* const program = clCreateProgramWithSource(context, 1, &text, nullptr, &code);
    if (code != CL_SUCCESS || clBuildProgram(program, 0, nullptr, "", nullptr, nullptr) != CL_SUCCESS) return 1;
    constexpr std::size_t items = 16;
    std::vector<cl_command_queue> queues;
    std::vector<cl_mem> buffers;
    std::vector<cl_kernel> made;
    for (cl_uint i = 0; i < count; ++i) {
        queues.push_back(clCreateCommandQueue(context, devices[i], 0, &code));
        buffers.push_back(clCreateBuffer(context, CL_MEM_READ_WRITE, items * sizeof(cl_float), nullptr, &code));
        for (int j = 0; j < kernels; ++j)
            made.push_back(clCreateKernel(program, ("k" + std::to_string(j)).c_str(), &code));
    }
    // Ranks meet where kernels are made; the launches of all may come at the same time.
    for (cl_uint i = 0; i < count; ++i) {
        const cl_float zero = 0;
        if (code != CL_SUCCESS || clEnqueueFillBuffer(queues[i], buffers[i], &zero, sizeof zero, 0, items * sizeof zero,
                                                      0, nullptr, nullptr) != CL_SUCCESS)
            return 1;
        for (int j = 0; j < kernels; ++j) {
            auto* const kernel = made[i * kernels + static_cast<cl_uint>(j)];
            if (clSetKernelArg(kernel, 0, sizeof buffers[i], &buffers[i]) != CL_SUCCESS ||
                clEnqueueNDRangeKernel(queues[i], kernel, 1, nullptr, &items, nullptr, 0, nullptr, nullptr) !=
                    CL_SUCCESS)
                return 1;
        }
        if (clFlush(queues[i]) != CL_SUCCESS) return 1;
    }
    std::puts("left");
    if (count_of_words == 1) return 0;
    for (auto* const kernel : made) clReleaseKernel(kernel);
    clReleaseProgram(program);
    for (auto* const buffer : buffers) clReleaseMemObject(buffer);
    for (auto* const queue : queues) clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return 0;
}
