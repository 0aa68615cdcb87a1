// SPDX-License-Identifier: Apache-2.0
// Uses an installed Causeway from C++ without its MPI half.
#define CL_TARGET_OPENCL_VERSION 120
#define CL_DATA_TRANSFER_NO_MPI
#include <CL/cl_data_transfer.h>
#include <causeway/causeway.h>
#include <causeway/graph.hpp>

#ifdef MPI_VERSION
#error "CL_DATA_TRANSFER_NO_MPI lets mpi.h in"
#endif

#include <cstdio>
#include <cstring>

int main() {
    if (std::strcmp(causeway_version(), CAUSEWAY_VERSION) != 0) {
        std::fprintf(stderr, "headers of %s, library of %s\n", CAUSEWAY_VERSION, causeway_version());
        return 1;
    }
    if (clCancelTransfer(nullptr) != CL_INVALID_EVENT) {
        std::fprintf(stderr, "clCancelTransfer accepts a null event\n");
        return 1;
    }
    try {
        causeway::stream_graph graph(nullptr, nullptr);
        std::fprintf(stderr, "a graph accepts a null context\n");
        return 1;
    } catch (const causeway::graph_error& error) {
        if (error.code() != CL_INVALID_CONTEXT) return 1;
    }
    std::printf("causeway %s without MPI\n", causeway_version());
}
