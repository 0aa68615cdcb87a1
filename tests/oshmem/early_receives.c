/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded: the first large receives write to all of their memory, and give other threads time to see it, before the
 * message comes. MPI may do so: it owns the memory until the receive is complete. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <mpi.h>
#include <sched.h>
#include <string.h>

int PMPI_Irecv(void* to, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request* request) {
    typedef int receive(void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
    static int seen;
    receive* const next = (receive*)dlsym(RTLD_NEXT, "PMPI_Irecv");
    if (type == MPI_BYTE && count > 4096 && seen++ < 10) {
        memset(to, 0x55, (size_t)count);
        for (int i = 0; i < 200; i++) sched_yield();
    }
    return next(to, count, type, source, tag, comm, request);
}
