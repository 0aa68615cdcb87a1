/* SPDX-License-Identifier: Apache-2.0 */
#include "grid.h"
#include "opencl.h"
#include "ways.h"

#include <string.h>

static const char source[] =
    "kernel void next_step(global const double *restrict u, global double *restrict v, int n, int w, int rows) {\n"
    "    int j = get_global_id(0) + 1, i = get_global_id(1) + 1;\n"
    "    if (j > n || i > rows) return;\n"
    "    int at = i * w + j;\n"
    "    v[at] = u[at] + 0.2 * (u[at - w] + u[at + w] + u[at - 1] + u[at + 1] - 4 * u[at]);\n"
    "}\n";

static struct opencl_device device[MOST_DEVICES];
static cl_kernel step_kernel[MOST_DEVICES];
static cl_mem u[MOST_DEVICES], v[MOST_DEVICES], pinned[MOST_DEVICES];
static double* edge[MOST_DEVICES]; /* page-locked: the last row of the device below, the first of the one above */
static int n, w, devices;
static size_t group[2];

static void prepare(int count, int size) {
    n = size, w = n + 2, devices = count;
    for (int d = 0; d < devices; d++) {
        const int first = first_of(d, devices, n), rows = first_of(d + 1, devices, n) - first;
        device[d] = open_device(d, source);
        step_kernel[d] = kernel_of(&device[d], "next_step");
        const size_t bytes = (size_t)(rows + 2) * w * sizeof(double);
        double* const part = malloc(bytes);
        for (int i = 0; i < rows + 2; i++)
            for (int j = 0; j < w; j++) part[(long)i * w + j] = mode_at(first + i, j, n);
        u[d] = buffer_of(&device[d], bytes, part);
        v[d] = buffer_of(&device[d], bytes, part);
        free(part);
        cl_int status;
        pinned[d] = clCreateBuffer(device[d].context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, 2 * w * sizeof(double),
                                   0, &status);
        check(status, "clCreateBuffer");
        edge[d] = clEnqueueMapBuffer(device[d].queue, pinned[d], CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                     2 * w * sizeof(double), 0, 0, 0, &status);
        check(status, "clEnqueueMapBuffer");
        set_int(step_kernel[d], 2, n);
        set_int(step_kernel[d], 3, w);
        set_int(step_kernel[d], 4, rows);
        cl_device_type type = 0;
        clGetDeviceInfo(device[d].id, CL_DEVICE_TYPE, sizeof type, &type, 0);
        group[0] = type & CL_DEVICE_TYPE_GPU ? 128 : 64;
        group[1] = 1;
    }
}

static void exchange(void) {
    const size_t bytes = w * sizeof(double);
    for (int d = 0; d < devices; d++) {
        const int rows = first_of(d + 1, devices, n) - first_of(d, devices, n);
        if (d > 0) check(clEnqueueReadBuffer(device[d].queue, v[d], CL_FALSE, bytes, bytes, edge[d], 0, 0, 0), "read");
        if (d + 1 < devices)
            check(clEnqueueReadBuffer(device[d].queue, v[d], CL_FALSE, rows * bytes, bytes, edge[d] + w, 0, 0, 0),
                  "read");
        clFlush(device[d].queue);
    }
    for (int d = 0; d < devices; d++) check(clFinish(device[d].queue), "clFinish");
    for (int d = 0; d < devices; d++) {
        const int rows = first_of(d + 1, devices, n) - first_of(d, devices, n);
        if (d > 0)
            check(clEnqueueWriteBuffer(device[d].queue, v[d], CL_FALSE, 0, bytes, edge[d - 1] + w, 0, 0, 0), "write");
        if (d + 1 < devices)
            check(
                clEnqueueWriteBuffer(device[d].queue, v[d], CL_FALSE, (rows + 1) * bytes, bytes, edge[d + 1], 0, 0, 0),
                "write");
    }
    /* The next step's reads into the same rows come behind what is written from them. */
    for (int d = 0; d < devices; d++) check(clFinish(device[d].queue), "clFinish");
}

static void run(int part) {
    for (int step = 0; step < HEAT_STEPS; step++) {
        for (int d = 0; d < devices; d++) {
            set_buffers(step_kernel[d], 2, (const cl_mem[]){u[d], v[d]});
            run_kernel(&device[d], step_kernel[d], n, first_of(d + 1, devices, n) - first_of(d, devices, n), group);
            clFlush(device[d].queue);
        }
        if (devices > 1) exchange();
        for (int d = 0; d < devices; d++) {
            const cl_mem old = u[d];
            u[d] = v[d], v[d] = old;
        }
    }
    for (int d = 0; d < devices; d++) check(clFinish(device[d].queue), "clFinish");
}

static void fetch(double* results) {
    memset(results, 0, (size_t)w * w * sizeof(double));
    for (int d = 0; d < devices; d++) {
        const int first = first_of(d, devices, n), rows = first_of(d + 1, devices, n) - first;
        const size_t row = w * sizeof(double);
        read_back(&device[d], u[d], row, rows * row, results + (long)(first + 1) * w);
        clEnqueueUnmapMemObject(device[d].queue, pinned[d], edge[d], 0, 0, 0);
        clFinish(device[d].queue);
        clReleaseMemObject(u[d]), clReleaseMemObject(v[d]), clReleaseMemObject(pinned[d]);
        clReleaseKernel(step_kernel[d]);
        close_device(&device[d]);
    }
}

const struct way heat_opencl = {"OpenCL", prepare, run, fetch};
