/* SPDX-License-Identifier: Apache-2.0 */
#include "grid.h"
#include "opencl.h"
#include "ways.h"

/* A group takes a row after the other; the change of a group is the greatest of its lanes'. */
static const char source[] = "kernel void next_step(global const double *restrict u, global double *restrict v, global "
                             "double *restrict changes,\n"
                             "                 local double *part, int n, int w) {\n"
                             "    int lane = get_local_id(0), lanes = get_local_size(0);\n"
                             "    double change = 0;\n"
                             "    for (int i = get_group_id(0) + 1; i <= n; i += get_num_groups(0))\n"
                             "        for (int j = lane + 1; j <= n; j += lanes) {\n"
                             "            int at = i * w + j;\n"
                             "            double next = 0.25 * (u[at - w] + u[at + w] + u[at - 1] + u[at + 1]);\n"
                             "            v[at] = next;\n"
                             "            change = fmax(change, fabs(next - u[at]));\n"
                             "        }\n"
                             "    part[lane] = change;\n"
                             "    for (int half_of = lanes / 2; half_of > 0; half_of /= 2) {\n"
                             "        barrier(CLK_LOCAL_MEM_FENCE);\n"
                             "        if (lane < half_of) part[lane] = fmax(part[lane], part[lane + half_of]);\n"
                             "    }\n"
                             "    if (lane == 0) changes[get_group_id(0)] = part[0];\n"
                             "}\n";

static struct opencl_device device;
static cl_kernel step_kernel;
static cl_mem u, v, changes;
static int n, w;
static size_t groups, group;
static double change, *parts;

static void prepare(int devices, int size) {
    n = size, w = n + 2;
    device = open_device(0, source);
    step_kernel = kernel_of(&device, "next_step");
    double* const first = malloc((long)w * w * sizeof *first);
    for (int i = 0; i < w; i++)
        for (int j = 0; j < w; j++) first[(long)i * w + j] = mode_at(i, j, n);
    u = buffer_of(&device, (size_t)w * w * sizeof(double), first);
    v = buffer_of(&device, (size_t)w * w * sizeof(double), first);
    free(first);
    cl_uint units = 1;
    cl_device_type type = 0;
    clGetDeviceInfo(device.id, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, 0);
    clGetDeviceInfo(device.id, CL_DEVICE_TYPE, sizeof type, &type, 0);
    group = type & CL_DEVICE_TYPE_GPU ? 128 : 1;
    groups = units * (type & CL_DEVICE_TYPE_GPU ? 16 : 4);
    changes = buffer_of(&device, groups * sizeof(double), 0);
    parts = malloc(groups * sizeof(double));
    check(clSetKernelArg(step_kernel, 3, group * sizeof(double), 0), "clSetKernelArg");
    set_int(step_kernel, 4, n);
    set_int(step_kernel, 5, w);
}

static void run(int part) {
    for (int step = 0; step < JACOBI_STEPS; step++) {
        set_buffers(step_kernel, 3, (const cl_mem[]){u, v, changes});
        run_kernel(&device, step_kernel, groups * group, 1, (const size_t[]){group, 1});
        read_back(&device, changes, 0, groups * sizeof(double), parts);
        change = 0;
        for (size_t each = 0; each < groups; each++) change = fmax(change, parts[each]);
        const cl_mem old = u;
        u = v, v = old;
    }
}

static void fetch(double* results) {
    read_back(&device, u, 0, (size_t)w * w * sizeof(double), results);
    results[(long)w * w] = change;
    clReleaseMemObject(u), clReleaseMemObject(v), clReleaseMemObject(changes);
    clReleaseKernel(step_kernel);
    close_device(&device);
    free(parts);
}

const struct way jacobi_opencl = {"OpenCL", prepare, run, fetch};
