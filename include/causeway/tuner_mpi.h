/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of messages between ranks, for causeway/tuner.h. */
#ifndef CAUSEWAY_TUNER_MPI_H
#define CAUSEWAY_TUNER_MPI_H

#include <causeway/tuner.h>
#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Measures messages with rank `peer` of `comm`, which makes the same call with this rank. The figures hold for all
 * ranks of the node, or, if `peer` is on another one, for all ranks of other nodes. Where devices have memory of their
 * own, also measures shared windows, with the device of `queue`. No other transfers between the two may be under way on
 * `comm`. MPI must be initialised with
 * MPI_THREAD_MULTIPLE (else CL_INVALID_OPERATION); CL_INVALID_VALUE for a rank that `comm` does not have,
 * MPI_PROC_NULL, or this rank itself. Moves about 0.9 GB as messages, and as much through shared memory where both
 * devices have memory of their own: less than two seconds within a node, longer over a network.
 */
CAUSEWAY_EXPORT cl_int causeway_tune_rank(cl_command_queue queue, int peer, MPI_Comm comm);

#ifdef __cplusplus
}
#endif

#endif
