// SPDX-License-Identifier: Apache-2.0
// MPI ranks as ends of a graph's streams: the engine sends and receives ahead.
#pragma once

#include "graph/doorbell.hpp"
#include "graph/work.hpp"

#include <CL/cl_data_transfer.h>

#include <cstdint>
#include <memory>

namespace causeway::core {

/// Throw transfer_error for what clEnqueueSendBuffer and clEnqueueRecvBuffer refuse, and for wildcards and
/// MPI_PROC_NULL. `total_bytes` may be endless: the input then ends with the other rank's run.
[[nodiscard]] graph::stream_end rank_input(int source, int tag, MPI_Comm comm, std::uint64_t total_bytes,
                                           std::size_t token_bytes, std::shared_ptr<graph::doorbell> bell);
[[nodiscard]] graph::stream_end rank_output(int dest, int tag, MPI_Comm comm, std::size_t token_bytes,
                                            std::shared_ptr<graph::doorbell> bell);

} // namespace causeway::core
