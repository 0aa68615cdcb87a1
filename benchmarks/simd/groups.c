// SPDX-License-Identifier: Apache-2.0
// What work-groups cost whose size is no multiple of a vector's, on the first OpenCL device: ns per work-item, for the
// size as it is; for groups rounded up to 16 items, of which the last ones do nothing; and, where a kernel does not
// know its group, for groups of 64 and a test of the index. Ways run in turns, the best time counts, and results are
// compared. cc -O2 groups.c -lOpenCL -lm -o groups && ./groups [SIZE]
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { items = 1 << 17, rounds = 25, room = items + 4096 };

static const char* text =
    "#define FOUR(x) r = r * x + 0.25f; r = r * x + 0.5f; r = r * x + 0.75f; r = r * x + 1;\n"
    "#define POLYNOMIAL(x) float r = x; FOUR(x) FOUR(x) FOUR(x) FOUR(x)\n"
    "kernel void poly(global float *out, global const float *in) {\n"
    "    const size_t i = get_global_id(0); const float x = in[i]; POLYNOMIAL(x) out[i] = r;\n"
    "}\n"
    "kernel void poly_up(global float *out, global const float *in, int size) {\n"
    "    const size_t l = get_local_id(0), i = get_group_id(0) * size + l;\n"
    "    if (l < size) { const float x = in[i]; POLYNOMIAL(x) out[i] = r; }\n"
    "}\n"
    "kernel void poly_flat(global float *out, global const float *in, int n) {\n"
    "    const size_t i = get_global_id(0);\n"
    "    if (i < n) { const float x = in[i]; POLYNOMIAL(x) out[i] = r; }\n"
    "}\n"
    "kernel void scale(global float *out, global const float *in) {\n"
    "    const size_t i = get_global_id(0); out[i] = in[i] * 1.5f + 2;\n"
    "}\n"
    "kernel void scale_up(global float *out, global const float *in, int size) {\n"
    "    const size_t l = get_local_id(0), i = get_group_id(0) * size + l;\n"
    "    if (l < size) out[i] = in[i] * 1.5f + 2;\n"
    "}\n"
    "kernel void scale_flat(global float *out, global const float *in, int n) {\n"
    "    const size_t i = get_global_id(0);\n"
    "    if (i < n) out[i] = in[i] * 1.5f + 2;\n"
    "}\n"
    "kernel void neighbour(global float *out, global const float *in) {\n"
    "    local float tile[64];\n"
    "    const size_t l = get_local_id(0), i = get_global_id(0), next = l + 1 == get_local_size(0) ? 0 : l + 1;\n"
    "    tile[l] = in[i]; barrier(CLK_LOCAL_MEM_FENCE); out[i] = tile[l] * 0.5f + tile[next];\n"
    "}\n"
    "kernel void neighbour_up(global float *out, global const float *in, int size) {\n"
    "    local float tile[64];\n"
    "    const size_t l = get_local_id(0), i = get_group_id(0) * size + l, next = l + 1 >= size ? 0 : l + 1;\n"
    "    if (l < size) tile[l] = in[i];\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    if (l < size) out[i] = tile[l] * 0.5f + tile[next];\n"
    "}\n";

static cl_context context;
static cl_command_queue queue;
static cl_program program;
static cl_mem in, out;

static void check(cl_int error, const char* what) {
    if (error == CL_SUCCESS) return;
    fprintf(stderr, "%s: error %d\n", what, error);
    exit(1);
}

struct way {
    cl_kernel kernel;
    size_t global, local;
    double best;
};

static struct way make(const char* name, size_t global, size_t local, int last_argument) {
    cl_int error;
    struct way way = {clCreateKernel(program, name, &error), global, local, INFINITY};
    check(error, name);
    check(clSetKernelArg(way.kernel, 0, sizeof out, &out), name);
    check(clSetKernelArg(way.kernel, 1, sizeof in, &in), name);
    if (last_argument) check(clSetKernelArg(way.kernel, 2, sizeof last_argument, &last_argument), name);
    return way;
}

static double run(const struct way* way) {
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    check(clEnqueueNDRangeKernel(queue, way->kernel, 1, NULL, &way->global, &way->local, 0, NULL, NULL), "a launch");
    check(clFinish(queue), "a launch");
    clock_gettime(CLOCK_MONOTONIC, &end);
    return (double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec);
}

// What a way writes; the first of them is compared with the others.
static void read_results(const struct way* way, float* results) {
    const float nothing = -1;
    check(clEnqueueFillBuffer(queue, out, &nothing, sizeof nothing, 0, room * sizeof nothing, 0, NULL, NULL), "a fill");
    run(way);
    check(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, room * sizeof *results, results, 0, NULL, NULL), "a read");
}

static void measure(const char* kernel, size_t size, int flat) {
    const size_t groups = items / size, n = groups * size, up = (size + 15) / 16 * 16;
    char name[2][32];
    snprintf(name[0], sizeof name[0], "%s_up", kernel);
    snprintf(name[1], sizeof name[1], "%s_flat", kernel);
    struct way ways[3] = {make(kernel, n, size, 0), make(name[0], groups * up, up, (int)size)};
    const int count = flat ? 3 : 2;
    if (flat) ways[2] = make(name[1], (n + 63) / 64 * 64, 64, (int)n);
    static float expected[room], results[room];
    read_results(&ways[0], expected);
    for (int w = 1; w < count; ++w) {
        read_results(&ways[w], results);
        for (int i = 0; i < room; ++i)
            if (!(fabsf(results[i] - expected[i]) <= 1e-5f * fabsf(expected[i]))) {
                fprintf(stderr, "%s, groups of %zu, way %d: item %d is %g, not %g\n", kernel, size, w, i, results[i],
                        expected[i]);
                exit(1);
            }
    }
    for (int r = 0; r < rounds; ++r)
        for (int w = 0; w < count; ++w) ways[w].best = fmin(ways[w].best, run(&ways[w]));
    printf("%-10s %4zu", kernel, size);
    for (int w = 0; w < count; ++w) {
        printf(" %9.3f", ways[w].best / (double)n);
        clReleaseKernel(ways[w].kernel);
    }
    printf("\n");
    fflush(stdout);
}

int main(int argc, char** argv) {
    static const size_t sizes[] = {7, 15, 16, 31, 32, 47, 63, 64};
    cl_platform_id platform;
    cl_device_id device;
    cl_int error;
    char device_name[256], version[256];
    check(clGetPlatformIDs(1, &platform, NULL), "the platform");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "the device");
    check(clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof device_name, device_name, NULL), "the device's name");
    check(clGetDeviceInfo(device, CL_DRIVER_VERSION, sizeof version, version, NULL), "the driver's version");
    printf("# %s, driver %s\n%-10s %4s %9s %9s %9s   ns per item\n", device_name, version, "kernel", "size", "as it is",
           "up to 16n", "64, i < n");
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    check(error, "a context");
    queue = clCreateCommandQueue(context, device, 0, &error);
    check(error, "a queue");
    program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
    check(error, "the program");
    check(clBuildProgram(program, 1, &device, "", NULL, NULL), "the build");
    static float numbers[room];
    for (int i = 0; i < room; ++i) numbers[i] = (float)(i % 97) / 97;
    in = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof numbers, numbers, &error);
    check(error, "a buffer");
    out = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof numbers, NULL, &error);
    check(error, "a buffer");
    for (int k = 0; k < 3; ++k)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; ++s)
            if (argc < 2 || (size_t)atoi(argv[1]) == sizes[s])
                measure((const char*[]){"poly", "scale", "neighbour"}[k], sizes[s], k < 2);
    return 0;
}
