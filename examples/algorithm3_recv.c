/* SPDX-License-Identifier: Apache-2.0 */
/* Algorithm 3 of the paper: clEnqueueRecvBuffer with wildcards, from C; every rank sends a block to rank 0. */
#include "example.h"

int main(int argc, char** argv) {
    struct example with = example_begin(&argc, &argv);
    const size_t size = 200000;
    const int tag = 3;
    MPI_Comm comm = MPI_COMM_WORLD;
    unsigned char* block = malloc(size);
    cl_command_queue cmd = example_queue(&with);
    int good = 1;

    if (!block) example_abort();
    if (with.rank != 0) {
        cl_mem buf;
        for (size_t at = 0; at < size; ++at) block[at] = (unsigned char)(at * 7 + at / 1000 + (size_t)with.rank * 5);
        buf = example_buffer(&with, size, block);
        EXAMPLE_CHECK(clEnqueueSendBuffer(cmd, buf, CL_TRUE, 0, size, 0, tag, comm, 0, NULL, NULL));
        clReleaseMemObject(buf);
    } else {
        cl_mem buf = example_buffer(&with, (size_t)with.ranks * size, NULL);
        for (int i = 1; i < with.ranks; ++i) {
            const size_t offset = (size_t)i * size;
            cl_event evtret;
            int src = -1;
            size_t moved = 0;
            EXAMPLE_CHECK(
                clEnqueueRecvBuffer(cmd, buf, CL_FALSE, offset, size, MPI_ANY_SOURCE, tag, comm, 0, NULL, &evtret));
            EXAMPLE_CHECK(clEnqueueReadBuffer(cmd, buf, CL_TRUE, offset, size, block, 1, &evtret, NULL));
            EXAMPLE_CHECK(clGetTransferInfo(evtret, CL_TRANSFER_MPI_SOURCE, sizeof src, &src, NULL));
            EXAMPLE_CHECK(clGetTransferInfo(evtret, CL_TRANSFER_BYTES_MOVED, sizeof moved, &moved, NULL));
            good = good && moved == size && src > 0 && src < with.ranks;
            for (size_t at = 0; good && at < size; ++at)
                good = block[at] == (unsigned char)(at * 7 + at / 1000 + (size_t)src * 5);
            clReleaseEvent(evtret);
        }
        clReleaseMemObject(buf);
    }
    clReleaseCommandQueue(cmd);
    free(block);
    return example_end(&with, "algorithm 3", good);
}
