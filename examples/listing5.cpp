// SPDX-License-Identifier: Apache-2.0
// Listing 5 of the paper: the host of rank 0 receives from the device of rank 1 while its own device computes.
#include "example.h"

#include <vector>

int main(int argc, char** argv) {
    struct example with = example_begin(&argc, &argv);
    example_need_ranks(&with, 2);
    const int rank = with.rank;
    const size_t count = 100000;
    const int bufisz = static_cast<int>(count * sizeof(int));
    const char* source = "__kernel void fill(__global int *values)"
                         "{ values[get_global_id(0)] = 5 * (int)get_global_id(0); }";
    std::vector<int> values(count);
    for (size_t at = 0; at < count; ++at) values[at] = static_cast<int>(at) * 3 + 1;
    std::vector<int> received(count, 0);
    int* recvbuf = received.data();
    cl_mem buf = example_buffer(&with, count * sizeof(int), rank == 1 ? values.data() : received.data());
    cl_mem computed = example_buffer(&with, count * sizeof(int), NULL);
    cl_kernel kern = example_kernel(&with, source, "fill");
    EXAMPLE_CHECK(clSetKernelArg(kern, 0, sizeof computed, &computed));
    cl_command_queue cmd = example_queue(&with);

    cl_context ctx = with.context;
    MPI_Request req;
    cl_event evt[2];

    if (rank == 0) {
        /* receiving data from a remote device */
        MPI_Irecv(recvbuf, bufisz, MPI_CL_MEM, 1, 0, MPI_COMM_WORLD, &req);
        /* creating an event object of MPI_Irecv */
        evt[0] = clCreateEventFromMPIRequest(ctx, &req, NULL);
        /* executing a kernel during the data transfer */
        clEnqueueNDRangeKernel(cmd, kern, 1, NULL, &count, NULL, 0, NULL, &evt[1]);

        /* executing this after the computation and communication */
        clEnqueueWriteBuffer(cmd, buf, CL_FALSE, 0, bufisz, recvbuf, 2, evt, NULL);
    } else if (rank == 1) {
        /* send data to a remote host */
        clEnqueueSendBuffer(cmd, buf, CL_TRUE, 0, bufisz, 0, 0, MPI_COMM_WORLD, 0, NULL, NULL);
    }

    int good = 1;
    if (rank == 0) {
        std::vector<int> seen(count);
        EXAMPLE_CHECK(clEnqueueReadBuffer(cmd, buf, CL_TRUE, 0, bufisz, seen.data(), 0, NULL, NULL));
        good = seen == values;
        EXAMPLE_CHECK(clEnqueueReadBuffer(cmd, computed, CL_TRUE, 0, bufisz, seen.data(), 0, NULL, NULL));
        for (size_t at = 0; at < count; ++at) good = good && seen[at] == 5 * static_cast<int>(at);
        clReleaseEvent(evt[0]);
        clReleaseEvent(evt[1]);
    }
    clReleaseKernel(kern);
    clReleaseMemObject(computed);
    clReleaseMemObject(buf);
    clReleaseCommandQueue(cmd);
    return example_end(&with, "listing 5", good);
}
