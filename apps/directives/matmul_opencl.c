/* SPDX-License-Identifier: Apache-2.0 */
#include "matmul.h"
#include "opencl.h"
#include "ways.h"

static const char source[] = "kernel void multiply(global const double *restrict a, global const double *restrict b,\n"
                             "                     global double *restrict c, int n, int rows) {\n"
                             "    int j = get_global_id(0), i = get_global_id(1);\n"
                             "    if (j >= n || i >= rows) return;\n"
                             "    double sum = 0;\n"
                             "    for (int k = 0; k < n; k++) sum += a[i * n + k] * b[k * n + j];\n"
                             "    c[i * n + j] = sum;\n"
                             "}\n";

static struct opencl_device device[MOST_DEVICES];
static cl_kernel multiply[MOST_DEVICES];
static cl_mem a[MOST_DEVICES], b[MOST_DEVICES], c[MOST_DEVICES];
static int n, devices;

static void prepare(int count, int size) {
    n = size, devices = count;
    double* const values = malloc((size_t)n * n * sizeof *values);
    for (int d = 0; d < devices; d++) {
        const int first = first_of(d, devices, n), rows = first_of(d + 1, devices, n) - first;
        device[d] = open_device(d, source);
        multiply[d] = kernel_of(&device[d], "multiply");
        for (int i = 0; i < rows; i++)
            for (int k = 0; k < n; k++) values[(long)i * n + k] = a_at(first + i, k);
        a[d] = buffer_of(&device[d], (size_t)rows * n * sizeof(double), values);
        for (int k = 0; k < n; k++)
            for (int j = 0; j < n; j++) values[(long)k * n + j] = b_at(k, j);
        b[d] = buffer_of(&device[d], (size_t)n * n * sizeof(double), values);
        c[d] = buffer_of(&device[d], (size_t)rows * n * sizeof(double), 0);
        set_buffers(multiply[d], 3, (const cl_mem[]){a[d], b[d], c[d]});
        set_int(multiply[d], 3, n);
        set_int(multiply[d], 4, rows);
    }
    free(values);
}

static void run(int part) {
    for (int d = 0; d < devices; d++) {
        run_kernel(&device[d], multiply[d], n, first_of(d + 1, devices, n) - first_of(d, devices, n),
                   (const size_t[]){128, 1});
        clFlush(device[d].queue);
    }
    for (int d = 0; d < devices; d++) check(clFinish(device[d].queue), "clFinish");
}

static void fetch(double* results) {
    for (int d = 0; d < devices; d++) {
        const int first = first_of(d, devices, n), rows = first_of(d + 1, devices, n) - first;
        read_back(&device[d], c[d], 0, (size_t)rows * n * sizeof(double), results + (long)first * n);
        clReleaseMemObject(a[d]), clReleaseMemObject(b[d]), clReleaseMemObject(c[d]);
        clReleaseKernel(multiply[d]);
        close_device(&device[d]);
    }
}

const struct way matmul_opencl = {"OpenCL", prepare, run, fetch};
