// SPDX-License-Identifier: Apache-2.0
// Programs that use MPI as well: they may initialise it behind shmem_init, and end it in either order.
#include "comm/process_group.hpp"
#include "oshmem/job.hpp"

#include <dlfcn.h>

using namespace causeway::oshmem;

namespace {

/// Who would have been called without this library: another one of Causeway's perhaps, which watches the end of MPI.
template <class Call> Call next(const char* name, Call otherwise) {
    auto* const found = reinterpret_cast<Call>(dlsym(RTLD_NEXT, name));
    return found != nullptr ? found : otherwise;
}

/// At the highest level of threads, whatever the program asks for: device memory needs it.
int start(int* argc, char*** argv, int* provided) {
    return job::shares_mpi() ? PMPI_Query_thread(provided)
                             : next("MPI_Init_thread", &PMPI_Init_thread)(argc, argv, MPI_THREAD_MULTIPLE, provided);
}

} // namespace

int causeway::oshmem::end_mpi_of_program() { return next("MPI_Finalize", &PMPI_Finalize)(); }

extern "C" {

int MPI_Init(int* argc, char*** argv) {
    int provided = MPI_THREAD_SINGLE;
    return start(argc, argv, &provided);
}

int MPI_Init_thread(int* argc, char*** argv, int, int* provided) { return start(argc, argv, provided); }

int MPI_Finalize(void) {
    if (!job::mpi_may_end()) return MPI_SUCCESS; // ended with the job
    return causeway::oshmem::end_mpi_of_program();
}

} // extern "C"
