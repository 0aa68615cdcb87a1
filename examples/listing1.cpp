// SPDX-License-Identifier: Apache-2.0
// Listing 1 of the paper: OpenCL and MPI joined by hand, with a host thread that waits. Compare listing3.cpp.
#include "example.h"

#include <vector>

int main(int argc, char** argv) {
    struct example with = example_begin(&argc, &argv);
    const int rank = with.rank;
    const int right = (rank + 1) % with.ranks;
    const int left = (rank + with.ranks - 1) % with.ranks;
    const int N = 10;
    const size_t count = 1000;
    const size_t size = count * sizeof(int);

    // Each iteration adds 1 to every value and passes all of them to the right.
    const char* source = "__kernel void add_one(__global int *values) { values[get_global_id(0)] += 1; }";
    std::vector<int> sent(count);
    std::vector<int> received(count);
    for (size_t at = 0; at < count; ++at) sent[at] = rank * 100000 + static_cast<int>(at);
    cl_mem buf = example_buffer(&with, size, sent.data());

    cl_command_queue cmd = example_queue(&with);
    cl_kernel kern = example_kernel(&with, source, "add_one");
    cl_event evt;
    EXAMPLE_CHECK(clSetKernelArg(kern, 0, sizeof buf, &buf));

    for (int i(0); i < N; ++i) {
        // (1) computation on a device
        clEnqueueNDRangeKernel(cmd, kern, 1, NULL, &count, NULL, 0, NULL, &evt);

        // (2) read the result from device to host
        clEnqueueReadBuffer(cmd, buf, CL_FALSE, 0, size, sent.data(), 1, &evt, NULL);
        clFinish(cmd); // the host thread is blocked

        // (3) exchange data with other nodes
        MPI_Sendrecv(sent.data(), (int)count, MPI_INT, right, i, received.data(), (int)count, MPI_INT, left, i,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE); // blocking function call

        // (4) write the received data to device memory
        clEnqueueWriteBuffer(cmd, buf, CL_FALSE, 0, size, received.data(), 0, NULL, NULL);
        clReleaseEvent(evt);
    }

    EXAMPLE_CHECK(clEnqueueReadBuffer(cmd, buf, CL_TRUE, 0, size, received.data(), 0, NULL, NULL));
    const int origin = ((rank - N) % with.ranks + with.ranks) % with.ranks;
    int good = 1;
    for (size_t at = 0; at < count; ++at) good = good && received[at] == origin * 100000 + static_cast<int>(at) + N;
    clReleaseKernel(kern);
    clReleaseMemObject(buf);
    clReleaseCommandQueue(cmd);
    return example_end(&with, "listing 1", good);
}
