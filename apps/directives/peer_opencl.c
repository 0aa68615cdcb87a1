/* SPDX-License-Identifier: Apache-2.0 */
#include "peer.h"
#include "opencl.h"
#include "ways.h"

#include <causeway/buffer.h>
#include <causeway/causeway.h>

static struct opencl_device devices[2];
static cl_mem buffers[2];
static int count;

static void prepare(int device_count, int n) {
    count = peer_size(n, 3);
    double* const values = malloc(count * sizeof *values);
    for (int i = 0; i < count; i++) values[i] = peer_value(i);
    for (int d = 0; d < 2; d++) {
        devices[d] = open_device(d, "kernel void unused(void) {}\n");
        cl_int status;
        buffers[d] = causeway_buffer_create(devices[d].context, devices[d].id, CL_MEM_READ_WRITE,
                                            count * sizeof *values, &status);
        check(status, "causeway_buffer_create");
    }
    check(clEnqueueWriteBuffer(devices[0].queue, buffers[0], CL_TRUE, 0, count * sizeof *values, values, 0, 0, 0),
          "clEnqueueWriteBuffer");
    free(values);
}

static void run(int part) {
    check(clEnqueuePeerCopyBuffer(devices[0].queue, buffers[0], devices[1].queue, buffers[1], CL_FALSE, 0, 0,
                                  peer_size(count - 1, part) * sizeof(double), 0, 0, 0),
          "clEnqueuePeerCopyBuffer");
    for (int d = 0; d < 2; d++) check(clFinish(devices[d].queue), "clFinish");
}

static void fetch(double* results) {
    read_back(&devices[1], buffers[1], 0, count * sizeof(double), results);
    for (int d = 0; d < 2; d++) {
        clReleaseMemObject(buffers[d]);
        close_device(&devices[d]);
    }
}

const struct way peer_opencl = {"OpenCL", prepare, run, fetch};
