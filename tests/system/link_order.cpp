// SPDX-License-Identifier: Apache-2.0
// A program for any ranks: MPI_CL_MEM works whichever of the libraries comes first on the linker's command line.
#include "device.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>

#include <unistd.h>

int main(int argc, char** argv) {
    using namespace system_test;
    alarm(90);
    int provided = MPI_THREAD_SINGLE;
    int rank = 0;
    int ranks = 1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int right = (rank + 1) % ranks;
    const int left = (rank + ranks - 1) % ranks;
    const std::size_t size = 200000;
    bool good = true;
    {
        const rank_device own(rank);
        const queue on = own.make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
        const buffer outgoing = own.make_buffer(pattern(rank, 1, size));
        const buffer incoming = own.make_buffer(size, 0);
        const bytes host_outgoing = pattern(rank, 2, size);
        bytes host_incoming(size);
        std::array<MPI_Request, 2> requests;
        MPI_Irecv(host_incoming.data(), static_cast<int>(size), MPI_CL_MEM, left, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(host_outgoing.data(), static_cast<int>(size), MPI_CL_MEM, right, 2, MPI_COMM_WORLD, &requests[1]);
        check(clEnqueueSendBuffer(on.get(), outgoing.get(), CL_FALSE, 0, size, right, 1, MPI_COMM_WORLD, 0, nullptr,
                                  nullptr),
              "clEnqueueSendBuffer");
        check(clEnqueueRecvBuffer(on.get(), incoming.get(), CL_FALSE, 0, size, left, 2, MPI_COMM_WORLD, 0, nullptr,
                                  nullptr),
              "clEnqueueRecvBuffer");
        MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
        check(clFinish(on.get()), "clFinish");
        good = host_incoming == pattern(left, 1, size) && own.read(incoming.get(), 0, size) == pattern(left, 2, size);
    }
    MPI_Finalize();
    std::printf("[rank %d] link_order: %s\n", rank, good ? "passed" : "FAILED");
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
