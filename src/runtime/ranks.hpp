// SPDX-License-Identifier: Apache-2.0
// Ranks as the arguments of a call name them.
#pragma once

#include "endpoints/mpi/rank_endpoint.hpp"
#include "transfer/endpoint.hpp"

#include <CL/cl_data_transfer.h>

#include <memory>

namespace causeway::core {

/// Check that MPI can be used, and communicator, rank and tag, in this order; throw transfer_error. MPI_PROC_NULL gives
/// an endpoint without bytes.
[[nodiscard]] std::unique_ptr<transfer::endpoint> make_destination(int rank, int tag, MPI_Comm comm);
[[nodiscard]] std::unique_ptr<transfer::endpoint> make_origin(int rank, int tag, MPI_Comm comm,
                                                              std::shared_ptr<endpoints::matched_envelope> envelope);

} // namespace causeway::core
