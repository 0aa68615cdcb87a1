// SPDX-License-Identifier: Apache-2.0
// Turns MPI's arguments into endpoints.
#include "runtime/ranks.hpp"

#include "runtime/mpi_runtime.hpp"
#include "endpoints/host/host_endpoint.hpp"

namespace causeway::core {

std::unique_ptr<transfer::endpoint> make_destination(int rank, int tag, MPI_Comm comm) {
    comm::require_mpi();
    comm::require_communicator(comm);
    comm::require_destination(comm, rank);
    comm::require_tag(tag);
    if (rank == MPI_PROC_NULL) return endpoints::make_empty_endpoint("MPI_PROC_NULL");
    auto& process = mpi_runtime::instance();
    return endpoints::make_send_endpoint(process.ranks(), process.space_of(comm), rank, tag);
}

std::unique_ptr<transfer::endpoint> make_origin(int rank, int tag, MPI_Comm comm,
                                                std::shared_ptr<endpoints::matched_envelope> envelope) {
    comm::require_mpi();
    comm::require_communicator(comm);
    comm::require_source(comm, rank);
    if (tag != MPI_ANY_TAG) comm::require_tag(tag);
    if (rank == MPI_PROC_NULL) {
        // What MPI_Recv answers for it (MPI 3.1, section 3.11).
        if (envelope) {
            envelope->source = MPI_PROC_NULL;
            envelope->tag = MPI_ANY_TAG;
        }
        return endpoints::make_empty_endpoint("MPI_PROC_NULL");
    }
    auto& process = mpi_runtime::instance();
    return endpoints::make_receive_endpoint(process.ranks(), process.space_of(comm),
                                            rank == MPI_ANY_SOURCE ? endpoints::any_source : rank,
                                            tag == MPI_ANY_TAG ? endpoints::any_tag : tag, std::move(envelope));
}

} // namespace causeway::core
