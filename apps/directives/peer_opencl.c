/* SPDX-License-Identifier: Apache-2.0 */
#include "peer.h"
#include "opencl.h"
#include "ways.h"

#include <causeway/buffer.h>
#include <causeway/causeway.h>

static const char source[] = "kernel void add(global double *v, int one, int other) {\n"
                             "    v[one] += 1;\n"
                             "    v[other] += 1;\n"
                             "}\n";

static struct opencl_device devices[2];
static cl_mem buffers[2];
static cl_kernel add;
static int n, count;

static void prepare(int device_count, int given) {
    n = given;
    count = peer_first(n, peer_part_count);
    double* const values = malloc(count * sizeof *values);
    for (int i = 0; i < count; i++) values[i] = peer_value(i);
    for (int d = 0; d < 2; d++) {
        devices[d] = open_device(d, source);
        cl_int status;
        buffers[d] = causeway_buffer_create(devices[d].context, devices[d].id, CL_MEM_READ_WRITE,
                                            count * sizeof *values, &status);
        check(status, "causeway_buffer_create");
    }
    check(clEnqueueWriteBuffer(devices[0].queue, buffers[0], CL_TRUE, 0, count * sizeof *values, values, 0, 0, 0),
          "clEnqueueWriteBuffer");
    free(values);
    add = kernel_of(&devices[0], "add");
    set_buffers(add, 1, buffers);
}

static void run(int part) {
    const int first = peer_first(n, part), size = peer_size(n, part);
    set_int(add, 1, first);
    set_int(add, 2, first + size - 1);
    run_kernel(&devices[0], add, 1, 1, (const size_t[]){1, 1});
    check(clEnqueuePeerCopyBuffer(devices[0].queue, buffers[0], devices[1].queue, buffers[1], CL_FALSE,
                                  first * sizeof(double), first * sizeof(double), size * sizeof(double), 0, 0, 0),
          "clEnqueuePeerCopyBuffer");
    for (int d = 0; d < 2; d++) check(clFinish(devices[d].queue), "clFinish");
}

static void fetch(double* results) {
    read_back(&devices[1], buffers[1], 0, count * sizeof(double), results);
    clReleaseKernel(add);
    for (int d = 0; d < 2; d++) {
        clReleaseMemObject(buffers[d]);
        close_device(&devices[d]);
    }
}

const struct way peer_opencl = {"OpenCL", prepare, run, fetch};
