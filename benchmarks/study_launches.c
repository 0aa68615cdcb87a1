// SPDX-License-Identifier: Apache-2.0
// A program of many launches of one length, for study_cost.py: three arguments before each, 4 KiB read after every 16.
//   cc -O2 -o study_launches benchmarks/study_launches.c -lOpenCL && ./study_launches LAUNCHES ITEMS TERMS
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void check(cl_int code, const char* what) {
    if (code == CL_SUCCESS) return;
    fprintf(stderr, "study_launches: %s: %d\n", what, code);
    exit(1);
}

int main(int count, char** words) {
    if (count != 4) return 2;
    const long launches = atol(words[1]);
    const size_t items = strtoul(words[2], NULL, 10), group = items < 64 ? items : 64;
    const cl_uint terms = (cl_uint)atol(words[3]);
    const char* const source = "kernel void sums(global const float* a, global float* c, uint terms) {\n"
                               "    const size_t i = get_global_id(0);\n"
                               "    float sum = a[i];\n"
                               "    for (uint k = 0; k < terms; ++k) sum = sum * 0.999f + 1.f;\n"
                               "    c[i] = sum;\n"
                               "}\n";
    cl_platform_id platform;
    cl_device_id device;
    cl_int code;
    check(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    check(code, "clCreateContext");
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &code);
    check(code, "clCreateCommandQueue");
    cl_program program = clCreateProgramWithSource(context, 1, (const char**)&source, NULL, &code);
    check(clBuildProgram(program, 1, &device, "", NULL, NULL), "clBuildProgram");
    cl_kernel kernel = clCreateKernel(program, "sums", &code);
    check(code, "clCreateKernel");
    const size_t bytes = (items < 1024 ? 1024 : items) * sizeof(float);
    cl_mem a = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &code);
    check(code, "clCreateBuffer");
    cl_mem c = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &code);
    check(code, "clCreateBuffer");
    float* memory = calloc(1, bytes);
    check(clEnqueueWriteBuffer(queue, a, CL_TRUE, 0, bytes, memory, 0, NULL, NULL), "clEnqueueWriteBuffer");
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (long i = 0; i < launches; ++i) {
        check(clSetKernelArg(kernel, 0, sizeof a, &a), "clSetKernelArg");
        check(clSetKernelArg(kernel, 1, sizeof c, &c), "clSetKernelArg");
        check(clSetKernelArg(kernel, 2, sizeof terms, &terms), "clSetKernelArg");
        check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, &group, 0, NULL, NULL), "clEnqueueNDRangeKernel");
        if (i % 16 == 15)
            check(clEnqueueReadBuffer(queue, c, CL_TRUE, 0, 4096, memory, 0, NULL, NULL), "clEnqueueReadBuffer");
    }
    check(clFinish(queue), "clFinish");
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("%.2f us a launch\n",
           ((double)(end.tv_sec - begin.tv_sec) * 1e6 + (double)(end.tv_nsec - begin.tv_nsec) * 1e-3) /
               (double)launches);
    free(memory);
    clReleaseMemObject(a);
    clReleaseMemObject(c);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return 0;
}
