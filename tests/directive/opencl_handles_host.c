/* SPDX-License-Identifier: Apache-2.0 */
/* A buffer that the program has made in the directives' context is present, in order with commands in their queue. */
#include <CL/cl.h>
#include <openacc.h>
#include <stdio.h>
#include <stdlib.h>

enum { n = 1000, skipped = 16 };

void add_indices(int* values, int n);

int main(void) {
    const cl_context context = acc_get_current_opencl_context();
    const cl_command_queue queue = acc_get_opencl_queue(1);
    cl_device_id device = NULL;
    if (clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof device, &device, NULL) != CL_SUCCESS ||
        device != acc_get_current_opencl_device())
        return fprintf(stderr, "the queue is of another device\n"), 1;
    const cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, (skipped + n) * sizeof(int), NULL, NULL);
    int *const name = malloc(n * sizeof(int)), first = 3, values[n]; /* an address that is only mapped */
    clEnqueueFillBuffer(queue, buffer, &first, sizeof first, 0, (skipped + n) * sizeof(int), 0, NULL, NULL);
    acc_map_buffer(name, buffer, skipped * sizeof(int), n * sizeof(int));
    add_indices(name, n);
    clEnqueueReadBuffer(queue, buffer, CL_TRUE, skipped * sizeof(int), sizeof values, values, 0, NULL, NULL);
    int wrong = 0;
    for (int i = 0; i < n; i++) wrong += values[i] != 3 + i;
    acc_unmap_data(name);
    wrong += acc_is_present(name, sizeof values);
    clReleaseMemObject(buffer);
    free(name);
    if (wrong) fprintf(stderr, "%d values are wrong\n", wrong);
    return wrong != 0;
}
