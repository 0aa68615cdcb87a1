// SPDX-License-Identifier: Apache-2.0
// Programs that use MPI as well: they may initialise it behind shmem_init, and end it in either order.
#include "comm/process_group.hpp"
#include "oshmem/job.hpp"
#include "oshmem/next_call.hpp"

using namespace causeway::oshmem;

namespace {

/// At the highest level of threads, whatever the program asks for: device memory needs it.
int start(int* argc, char*** argv, int* provided) {
    return job::shares_mpi()
               ? PMPI_Query_thread(provided)
               : next_call("MPI_Init_thread", &PMPI_Init_thread)(argc, argv, MPI_THREAD_MULTIPLE, provided);
}

} // namespace

int causeway::oshmem::end_mpi_of_program() { return next_call("MPI_Finalize", &PMPI_Finalize)(); }

bool causeway::oshmem::is_started_by_program() {
    MPI_Comm parent = MPI_COMM_NULL;
    return PMPI_Comm_get_parent(&parent) == MPI_SUCCESS && parent != MPI_COMM_NULL;
}

extern "C" {

int MPI_Init(int* argc, char*** argv) {
    int provided = MPI_THREAD_SINGLE;
    return start(argc, argv, &provided);
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
    if (required > MPI_THREAD_FUNNELED) job::expect_others();
    return start(argc, argv, provided);
}

int MPI_Finalize(void) {
    if (!job::mpi_may_end()) return MPI_SUCCESS; // ended with the job
    const job::mpi_wait waits("MPI_Finalize");
    const int code = causeway::oshmem::end_mpi_of_program();
    job::mpi_has_ended();
    return code;
}

} // extern "C"
