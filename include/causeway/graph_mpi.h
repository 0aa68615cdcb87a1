/* SPDX-License-Identifier: Apache-2.0 */
/* MPI ranks as ends of the streams of causeway/graph.h. */
#ifndef CAUSEWAY_GRAPH_MPI_H
#define CAUSEWAY_GRAPH_MPI_H

#include <causeway/graph.h>
#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * An input stream whose tokens rank `source` of `comm` gives, and an output stream whose tokens rank `dest` gets. The
 * other rank has the opposite kind of stream in a graph of its own, with the same communicator, tag and token size, and
 * both graphs execute equally often. A rank may be its own other end. `total_size` may be CAUSEWAY_ENDLESS: the input
 * ends when the run of the other rank does.
 *
 * MPI must be initialised with MPI_THREAD_MULTIPLE (else CL_INVALID_OPERATION); CL_INVALID_VALUE for a wildcard,
 * MPI_PROC_NULL, a tag above 1073741822, and what MPI would refuse. No other messages between the two ranks may use
 * `tag` on `comm`. The communicator must live as long as the graph.
 *
 * A run that fails, or that is stopped early at the receiving end, ends that of the other rank with
 * CL_TRANSFER_PEER_FAILED (-31004); so does a rank that dies. The message names the stream, the token, and what the
 * other rank said.
 */
CAUSEWAY_EXPORT cl_int causeway_graph_add_input_rank(causeway_graph* graph, const char* name, int source, int tag,
                                                     MPI_Comm comm, uint64_t total_size, size_t token_size);
CAUSEWAY_EXPORT cl_int causeway_graph_add_output_rank(causeway_graph* graph, const char* name, int dest, int tag,
                                                      MPI_Comm comm, uint64_t total_size, size_t token_size);

#ifdef __cplusplus
}
#endif

#endif
