// SPDX-License-Identifier: Apache-2.0
// A plain OpenCL program with known counts: 3 launches of `square` with the driver's size, 2 of `add` with 64
// work-items each.
#include <CL/cl.h>

#include <stdio.h>
#include <stdlib.h>

#define COUNT 65536
#define CHECK(code)                                                                                                    \
    if ((code) != CL_SUCCESS) {                                                                                        \
        fprintf(stderr, "line %d: code %d\n", __LINE__, (int)(code));                                                  \
        exit(1);                                                                                                       \
    }

static const char* const
    source = "__kernel void square(__global const float* from, __global float* to) {\n"
             "    size_t i = get_global_id(0);\n"
             "    to[i] = from[i] * from[i];\n"
             "}\n"
             "__kernel void add(__global const float* from, __global float* to, const float by) {\n"
             "    size_t i = get_global_id(0);\n"
             "    to[i] = from[i] + by;\n"
             "}\n";

int main(int count, char** words) {
    static float from[COUNT], to[COUNT];
    cl_int code;
    cl_platform_id platform;
    cl_device_id device;
    CHECK(clGetPlatformIDs(1, &platform, NULL));
    CHECK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    CHECK(code);
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &code);
    CHECK(code);
    for (int i = 0; i < COUNT; ++i) from[i] = (float)(i % 100);
    cl_mem in = clCreateBuffer(context, CL_MEM_READ_ONLY, sizeof from, NULL, &code);
    CHECK(code);
    cl_mem out = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof to, NULL, &code);
    CHECK(code);
    cl_program program = clCreateProgramWithSource(context, 1, (const char**)&source, NULL, &code);
    CHECK(code);
    CHECK(clBuildProgram(program, 1, &device, "", NULL, NULL));
    cl_kernel square = clCreateKernel(program, "square", &code);
    CHECK(code);
    cl_kernel add = clCreateKernel(program, "add", &code);
    CHECK(code);
    CHECK(clEnqueueWriteBuffer(queue, in, CL_TRUE, 0, sizeof from, from, 0, NULL, NULL));
    CHECK(clEnqueueWriteBuffer(queue, out, CL_FALSE, 0, sizeof from, from, 0, NULL, NULL));
    CHECK(clSetKernelArg(square, 0, sizeof in, &in));
    CHECK(clSetKernelArg(square, 1, sizeof out, &out));
    const size_t all = COUNT, local = 64;
    for (int i = 0; i < 3; ++i) CHECK(clEnqueueNDRangeKernel(queue, square, 1, NULL, &all, NULL, 0, NULL, NULL));
    CHECK(clFinish(queue));
    const float by = 1;
    CHECK(clSetKernelArg(add, 0, sizeof in, &in));
    CHECK(clSetKernelArg(add, 1, sizeof out, &out));
    CHECK(clSetKernelArg(add, 2, sizeof by, &by));
    cl_event over;
    CHECK(clEnqueueNDRangeKernel(queue, add, 1, NULL, &all, &local, 0, NULL, NULL));
    CHECK(clEnqueueNDRangeKernel(queue, add, 1, NULL, &all, &local, 0, NULL, &over));
    CHECK(clWaitForEvents(1, &over));
    CHECK(clReleaseEvent(over));
    CHECK(clEnqueueReadBuffer(queue, out, CL_FALSE, 0, sizeof to, to, 0, NULL, NULL));
    CHECK(clFinish(queue));
    for (int i = 0; i < COUNT; ++i)
        if (to[i] != from[i] + 1) {
            fprintf(stderr, "element %d is %f\n", i, to[i]);
            return 1;
        }
    float* const mapped = clEnqueueMapBuffer(queue, in, CL_TRUE, CL_MAP_WRITE, 0, sizeof from, 0, NULL, NULL, &code);
    CHECK(code);
    mapped[0] = 5;
    CHECK(clEnqueueUnmapMemObject(queue, in, mapped, 0, NULL, NULL));
    CHECK(clFinish(queue));
    clReleaseKernel(square);
    clReleaseKernel(add);
    clReleaseProgram(program);
    clReleaseMemObject(in);
    clReleaseMemObject(out);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    printf("done\n");
    return count > 1 ? atoi(words[1]) : 0; // ends with the status that is asked for
}
