// SPDX-License-Identifier: Apache-2.0
// Uses the MPI half of an installed Causeway from C++, whose header of Open MPI 4 asks for a library of C++ bindings
// unless it is told not to: without optimisation the program then does not link.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl_data_transfer.h>
#include <causeway/graph_mpi.hpp>

#include <cstdio>

int main(int argc, char** argv) {
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    const cl_int code = clAttachCommunicator(MPI_COMM_NULL);
    MPI_Finalize();
    if (code != CL_INVALID_VALUE) {
        std::fprintf(stderr, "clAttachCommunicator accepts no communicator: %d\n", code);
        return 1;
    }
    return 0;
}
