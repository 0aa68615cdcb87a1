/* SPDX-License-Identifier: Apache-2.0 */
/* What a program in plain OpenCL needs around its kernels; counted among nobody's lines. */
#ifndef APPS_DIRECTIVES_OPENCL_H
#define APPS_DIRECTIVES_OPENCL_H
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <stdio.h>
#include <stdlib.h>

#define MOST_DEVICES 16

struct opencl_device {
    cl_device_id id;
    cl_context context;
    cl_command_queue queue;
    cl_program program;
};

static inline void check(cl_int status, const char* call) {
    if (status == CL_SUCCESS) return;
    fprintf(stderr, "%s: OpenCL's code %d\n", call, status);
    exit(1);
}

/* Device `number` of all platforms, GPUs first, as causeway-cc counts them. */
static inline struct opencl_device open_device(int number, const char* source) {
    cl_platform_id platforms[16];
    cl_device_id ids[64];
    cl_uint platform_count = 0, count = 0;
    check(clGetPlatformIDs(16, platforms, &platform_count), "clGetPlatformIDs");
    for (int gpus = 1; gpus >= 0; gpus--)
        for (cl_uint each = 0; each < platform_count && each < 16 && count < 32; each++) {
            cl_uint some = 0;
            clGetDeviceIDs(platforms[each], gpus ? CL_DEVICE_TYPE_GPU : CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_ACCELERATOR,
                           32, ids + count, &some);
            count += some > 32 ? 32 : some;
        }
    if (!count) check(CL_DEVICE_NOT_FOUND, "clGetDeviceIDs");
    struct opencl_device made = {ids[number % count], 0, 0, 0};
    cl_int status;
    made.context = clCreateContext(0, 1, &made.id, 0, 0, &status);
    check(status, "clCreateContext");
    made.queue = clCreateCommandQueue(made.context, made.id, 0, &status);
    check(status, "clCreateCommandQueue");
    made.program = clCreateProgramWithSource(made.context, 1, &source, 0, &status);
    check(status, "clCreateProgramWithSource");
    check(clBuildProgram(made.program, 1, &made.id, "", 0, 0), "clBuildProgram");
    return made;
}

static inline cl_kernel kernel_of(const struct opencl_device* device, const char* name) {
    cl_int status;
    const cl_kernel made = clCreateKernel(device->program, name, &status);
    check(status, name);
    return made;
}

static inline cl_mem buffer_of(const struct opencl_device* device, size_t bytes, const void* from) {
    cl_int status;
    const cl_mem made = clCreateBuffer(device->context, CL_MEM_READ_WRITE, bytes, 0, &status);
    check(status, "clCreateBuffer");
    if (from)
        check(clEnqueueWriteBuffer(device->queue, made, CL_TRUE, 0, bytes, from, 0, 0, 0), "clEnqueueWriteBuffer");
    return made;
}

static inline void set_buffers(cl_kernel kernel, int count, const cl_mem* buffers) {
    for (int each = 0; each < count; each++)
        check(clSetKernelArg(kernel, each, sizeof(cl_mem), &buffers[each]), "clSetKernelArg");
}

static inline void set_int(cl_kernel kernel, int at, int value) {
    check(clSetKernelArg(kernel, at, sizeof value, &value), "clSetKernelArg");
}

static inline void run_kernel(const struct opencl_device* device, cl_kernel kernel, size_t columns, size_t rows,
                              const size_t* group) {
    const size_t global[] = {group ? (columns + group[0] - 1) / group[0] * group[0] : columns,
                             group ? (rows + group[1] - 1) / group[1] * group[1] : rows};
    check(clEnqueueNDRangeKernel(device->queue, kernel, 2, 0, global, group, 0, 0, 0), "clEnqueueNDRangeKernel");
}

static inline void read_back(const struct opencl_device* device, cl_mem from, size_t offset, size_t bytes, void* to) {
    check(clEnqueueReadBuffer(device->queue, from, CL_TRUE, offset, bytes, to, 0, 0, 0), "clEnqueueReadBuffer");
}

static inline void close_device(struct opencl_device* device) {
    clReleaseProgram(device->program);
    clReleaseCommandQueue(device->queue);
    clReleaseContext(device->context);
}

#endif
