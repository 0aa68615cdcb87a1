// SPDX-License-Identifier: Apache-2.0
// Listing 3 of the paper: the device of rank 0 sends to the device of rank 1.
#include "example.h"

#include <vector>

int main(int argc, char** argv) {
    struct example with = example_begin(&argc, &argv);
    example_need_ranks(&with, 2);
    const int rank = with.rank;
    const size_t off = 4096;
    const size_t sz = 3 << 20;
    std::vector<unsigned char> contents(off + sz, 0);
    if (rank == 0)
        for (size_t at = 0; at < sz; ++at) contents[off + at] = static_cast<unsigned char>(at * 31 + at / 257);
    cl_mem buf = example_buffer(&with, contents.size(), contents.data());
    cl_command_queue cmd = example_queue(&with);

    if (rank == 0) {
        clEnqueueSendBuffer(cmd, buf, CL_TRUE, off, sz, 1, 0, MPI_COMM_WORLD, 0, NULL, NULL);
    } else if (rank == 1) {
        clEnqueueRecvBuffer(cmd, buf, CL_TRUE, off, sz, 0, 0, MPI_COMM_WORLD, 0, NULL, NULL);
    }

    int good = 1;
    if (rank == 1) {
        EXAMPLE_CHECK(clEnqueueReadBuffer(cmd, buf, CL_TRUE, 0, contents.size(), contents.data(), 0, NULL, NULL));
        for (size_t at = 0; at < off; ++at) good = good && contents[at] == 0;
        for (size_t at = 0; at < sz; ++at)
            good = good && contents[off + at] == static_cast<unsigned char>(at * 31 + at / 257);
    }
    clReleaseMemObject(buf);
    clReleaseCommandQueue(cmd);
    return example_end(&with, "listing 3", good);
}
