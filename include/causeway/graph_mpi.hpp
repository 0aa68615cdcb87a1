// SPDX-License-Identifier: Apache-2.0
// causeway/graph_mpi.h for the class of causeway/graph.hpp.
#ifndef CAUSEWAY_GRAPH_MPI_HPP
#define CAUSEWAY_GRAPH_MPI_HPP

#include <causeway/graph.hpp>
#include <causeway/graph_mpi.h>

namespace causeway {

/// Tokens from rank `source` of `comm`, until its run ends or there were `total_size` bytes. Throws graph_error.
inline void add_input_rank(stream_graph& to, const std::string& name, int source, int tag, MPI_Comm comm,
                           size_t token_size, uint64_t total_size = CAUSEWAY_ENDLESS) {
    const cl_int code = causeway_graph_add_input_rank(to.raw(), name.c_str(), source, tag, comm, total_size,
                                                      token_size);
    if (code != CL_SUCCESS) throw graph_error(code, causeway_error_last_message());
}

/// Tokens to rank `dest` of `comm`. Throws graph_error.
inline void add_output_rank(stream_graph& to, const std::string& name, int dest, int tag, MPI_Comm comm,
                            size_t token_size, uint64_t total_size = CAUSEWAY_ENDLESS) {
    const cl_int code = causeway_graph_add_output_rank(to.raw(), name.c_str(), dest, tag, comm, total_size, token_size);
    if (code != CL_SUCCESS) throw graph_error(code, causeway_error_last_message());
}

} // namespace causeway

#endif
