// SPDX-License-Identifier: Apache-2.0
// MPI_Comm_dup and MPI_Allgather.
#include "comm/process_group.hpp"

#include "base/error.hpp"

#include <cstdlib>

namespace causeway::comm {

namespace {

void check(const char* call, int code) {
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0, kind = 0;
    PMPI_Error_string(code, text, &length);
    PMPI_Error_class(code, &kind);
    throw transfer_error(status::peer_failed, std::string(call) + ": " + text, 0, kind);
}

} // namespace

std::unique_ptr<process_group> process_group::duplicate(MPI_Comm comm) {
    int is_inter = 0;
    check("MPI_Comm_test_inter", PMPI_Comm_test_inter(comm, &is_inter));
    if (is_inter != 0) throw transfer_error(status::invalid_value, "the communicator is an inter-communicator");
    MPI_Comm own = MPI_COMM_NULL;
    check("MPI_Comm_dup", PMPI_Comm_dup(comm, &own));
    PMPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
    return std::unique_ptr<process_group>(new process_group(own));
}

process_group::process_group(MPI_Comm own) : m_comm(own) {
    PMPI_Comm_rank(m_comm, &m_rank);
    PMPI_Comm_size(m_comm, &m_size);
}

process_group::~process_group() {
    if (mpi_runs() && !m_is_kept) PMPI_Comm_free(&m_comm);
}

void process_group::gather(const void* mine, std::size_t bytes, void* all) const {
    const auto count = static_cast<int>(bytes);
    check("MPI_Allgather", PMPI_Allgather(mine, count, MPI_BYTE, all, count, MPI_BYTE, m_comm));
}

bool start_mpi_if_nobody_has() {
    int is_started = 0, provided = 0;
    PMPI_Initialized(&is_started);
    if (is_started != 0) return false;
    check("MPI_Init_thread", PMPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided));
    return true;
}

bool mpi_runs() {
    int is_started = 0, is_over = 0;
    PMPI_Initialized(&is_started);
    PMPI_Finalized(&is_over);
    return is_started != 0 && is_over == 0;
}

void end_mpi() {
    if (mpi_runs()) PMPI_Finalize();
}

void end_all_processes(int status) {
    if (mpi_runs()) PMPI_Abort(MPI_COMM_WORLD, status);
    std::_Exit(status);
}

} // namespace causeway::comm
