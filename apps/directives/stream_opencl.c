/* SPDX-License-Identifier: Apache-2.0 */
#include "opencl.h"
#include "stream.h"
#include "ways.h"

static const char source[] =
    "kernel void copy(global const double *restrict a, global double *restrict c) {\n"
    "    size_t i = get_global_id(0); c[i] = a[i]; }\n"
    "kernel void multiply(global double *restrict b, global const double *restrict c) {\n"
    "    size_t i = get_global_id(0); b[i] = 0.4 * c[i]; }\n"
    "kernel void add(global const double *restrict a, global const double *restrict b, global double *restrict c) {\n"
    "    size_t i = get_global_id(0); c[i] = a[i] + b[i]; }\n"
    "kernel void triad(global double *restrict a, global const double *restrict b, global const double *restrict c) {\n"
    "    size_t i = get_global_id(0); a[i] = b[i] + 0.4 * c[i]; }\n"
    "kernel void dot_product(global const double *restrict a, global const double *restrict b, global double *restrict "
    "sums,\n"
    "                local double *part, int n) {\n"
    "    size_t at = get_local_id(0);\n"
    "    double sum = 0;\n"
    "    for (int i = get_global_id(0); i < n; i += get_global_size(0)) sum += a[i] * b[i];\n"
    "    part[at] = sum;\n"
    "    for (size_t half_of = get_local_size(0) / 2; half_of > 0; half_of /= 2) {\n"
    "        barrier(CLK_LOCAL_MEM_FENCE);\n"
    "        if (at < half_of) part[at] += part[at + half_of];\n"
    "    }\n"
    "    if (at == 0) sums[get_group_id(0)] = part[0];\n"
    "}\n";

static struct opencl_device device;
static cl_kernel kernels[5];
static cl_mem a, b, c, sums;
static int n;
static size_t groups, group;
static double sum, *parts;

static void prepare(int devices, int count) {
    n = count;
    device = open_device(0, source);
    static const char* const names[] = {"copy", "multiply", "add", "triad", "dot_product"};
    for (int each = 0; each < 5; each++) kernels[each] = kernel_of(&device, names[each]);
    double* const first = malloc(n * sizeof(double));
    for (int i = 0; i < n; i++) first[i] = FIRST_A * share_of(i);
    a = buffer_of(&device, n * sizeof(double), first);
    for (int i = 0; i < n; i++) first[i] = FIRST_B * share_of(i);
    b = buffer_of(&device, n * sizeof(double), first);
    for (int i = 0; i < n; i++) first[i] = FIRST_C * share_of(i);
    c = buffer_of(&device, n * sizeof(double), first);
    free(first);
    cl_uint units = 1;
    cl_device_type type = 0;
    clGetDeviceInfo(device.id, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, 0);
    clGetDeviceInfo(device.id, CL_DEVICE_TYPE, sizeof type, &type, 0);
    groups = units * (type & CL_DEVICE_TYPE_GPU ? 8 : 4), group = 256;
    sums = buffer_of(&device, groups * sizeof(double), 0);
    parts = malloc(groups * sizeof(double));
    set_buffers(kernels[COPY], 2, (const cl_mem[]){a, c});
    set_buffers(kernels[MULTIPLY], 2, (const cl_mem[]){b, c});
    set_buffers(kernels[ADD], 3, (const cl_mem[]){a, b, c});
    set_buffers(kernels[TRIAD], 3, (const cl_mem[]){a, b, c});
    set_buffers(kernels[DOT], 3, (const cl_mem[]){a, b, sums});
    check(clSetKernelArg(kernels[DOT], 3, group * sizeof(double), 0), "clSetKernelArg");
    set_int(kernels[DOT], 4, n);
}

static void run(int part) {
    if (part != DOT) {
        run_kernel(&device, kernels[part], n, 1, 0);
        check(clFinish(device.queue), "clFinish");
        return;
    }
    run_kernel(&device, kernels[DOT], groups * group, 1, (const size_t[]){group, 1});
    read_back(&device, sums, 0, groups * sizeof(double), parts);
    sum = 0;
    for (size_t each = 0; each < groups; each++) sum += parts[each];
}

static void fetch(double* results) {
    read_back(&device, a, 0, n * sizeof(double), results);
    read_back(&device, b, 0, n * sizeof(double), results + n);
    read_back(&device, c, 0, n * sizeof(double), results + 2 * (long)n);
    results[3 * (long)n] = sum;
    clReleaseMemObject(a), clReleaseMemObject(b), clReleaseMemObject(c), clReleaseMemObject(sums);
    for (int each = 0; each < 5; each++) clReleaseKernel(kernels[each]);
    close_device(&device);
    free(parts);
}

const struct way stream_opencl = {"OpenCL", prepare, run, fetch};
