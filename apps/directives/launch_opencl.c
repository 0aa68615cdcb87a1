/* SPDX-License-Identifier: Apache-2.0 */
#include "launch.h"
#include "opencl.h"
#include "ways.h"

static const char source[] = "kernel void count(global int *counted) { counted[0] += 1; }\n";

static struct opencl_device device;
static cl_kernel count;
static cl_mem counted;

static void prepare(int devices, int n) {
    device = open_device(0, source);
    count = kernel_of(&device, "count");
    const cl_int none = 0;
    counted = buffer_of(&device, sizeof none, &none);
    set_buffers(count, 1, &counted);
}

static void run(int part) {
    for (int launch = 0; launch < LAUNCHES; launch++) {
        run_kernel(&device, count, 1, 1, (const size_t[]){1, 1});
        check(clFinish(device.queue), "clFinish");
    }
}

static void fetch(double* results) {
    cl_int found;
    read_back(&device, counted, 0, sizeof found, &found);
    results[0] = found;
    clReleaseMemObject(counted);
    clReleaseKernel(count);
    close_device(&device);
}

const struct way launch_opencl = {"OpenCL", prepare, run, fetch};
