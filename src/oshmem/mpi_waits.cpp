// SPDX-License-Identifier: Apache-2.0
// MPI's blocking calls: the others see that this PE waits in one. While it has files open, or once it has met processes
// that are no PEs, it says nothing, as those may end a wait.
#include "oshmem/job.hpp"
#include "oshmem/next_call.hpp"

using causeway::oshmem::job;
using causeway::oshmem::next_call;

extern "C" {

#define WAITS(NAME, PARAMETERS, ARGUMENTS)                                                                             \
    int MPI_##NAME PARAMETERS {                                                                                        \
        static const auto next = next_call("MPI_" #NAME, &PMPI_##NAME);                                                \
        const job::mpi_wait waits("MPI_" #NAME);                                                                       \
        return next ARGUMENTS;                                                                                         \
    }

using from_memory = const void*;
using numbers = const int*;
using kinds = const MPI_Datatype*;

WAITS(Send, (from_memory b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c), (b, n, t, to, tag, c))
WAITS(Ssend, (from_memory b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c), (b, n, t, to, tag, c))
WAITS(Rsend, (from_memory b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c), (b, n, t, to, tag, c))
WAITS(Recv, (void* b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status* s), (b, n, t, from, tag, c, s))
WAITS(Sendrecv,
      (from_memory b, int n, MPI_Datatype t, int to, int tag, void* rb, int rn, MPI_Datatype rt, int from, int rtag,
       MPI_Comm c, MPI_Status* s),
      (b, n, t, to, tag, rb, rn, rt, from, rtag, c, s))
WAITS(Sendrecv_replace,
      (void* b, int n, MPI_Datatype t, int to, int tag, int from, int rtag, MPI_Comm c, MPI_Status* s),
      (b, n, t, to, tag, from, rtag, c, s))
WAITS(Probe, (int from, int tag, MPI_Comm c, MPI_Status* s), (from, tag, c, s))
WAITS(Mprobe, (int from, int tag, MPI_Comm c, MPI_Message* m, MPI_Status* s), (from, tag, c, m, s))
WAITS(Wait, (MPI_Request * r, MPI_Status* s), (r, s))
WAITS(Waitall, (int n, MPI_Request* r, MPI_Status* s), (n, r, s))
WAITS(Waitany, (int n, MPI_Request* r, int* i, MPI_Status* s), (n, r, i, s))
WAITS(Waitsome, (int n, MPI_Request* r, int* found, int* i, MPI_Status* s), (n, r, found, i, s))

WAITS(Barrier, (MPI_Comm c), (c))
WAITS(Bcast, (void* b, int n, MPI_Datatype t, int root, MPI_Comm c), (b, n, t, root, c))
WAITS(Gather, (from_memory b, int n, MPI_Datatype t, void* rb, int rn, MPI_Datatype rt, int root, MPI_Comm c),
      (b, n, t, rb, rn, rt, root, c))
WAITS(Gatherv,
      (from_memory b, int n, MPI_Datatype t, void* rb, numbers rn, numbers rd, MPI_Datatype rt, int root, MPI_Comm c),
      (b, n, t, rb, rn, rd, rt, root, c))
WAITS(Scatter, (from_memory b, int n, MPI_Datatype t, void* rb, int rn, MPI_Datatype rt, int root, MPI_Comm c),
      (b, n, t, rb, rn, rt, root, c))
WAITS(Scatterv,
      (from_memory b, numbers n, numbers d, MPI_Datatype t, void* rb, int rn, MPI_Datatype rt, int root, MPI_Comm c),
      (b, n, d, t, rb, rn, rt, root, c))
WAITS(Allgather, (from_memory b, int n, MPI_Datatype t, void* rb, int rn, MPI_Datatype rt, MPI_Comm c),
      (b, n, t, rb, rn, rt, c))
WAITS(Allgatherv, (from_memory b, int n, MPI_Datatype t, void* rb, numbers rn, numbers rd, MPI_Datatype rt, MPI_Comm c),
      (b, n, t, rb, rn, rd, rt, c))
WAITS(Alltoall, (from_memory b, int n, MPI_Datatype t, void* rb, int rn, MPI_Datatype rt, MPI_Comm c),
      (b, n, t, rb, rn, rt, c))
WAITS(Alltoallv,
      (from_memory b, numbers n, numbers d, MPI_Datatype t, void* rb, numbers rn, numbers rd, MPI_Datatype rt,
       MPI_Comm c),
      (b, n, d, t, rb, rn, rd, rt, c))
WAITS(Alltoallw, (from_memory b, numbers n, numbers d, kinds t, void* rb, numbers rn, numbers rd, kinds rt, MPI_Comm c),
      (b, n, d, t, rb, rn, rd, rt, c))
WAITS(Reduce, (from_memory b, void* rb, int n, MPI_Datatype t, MPI_Op o, int root, MPI_Comm c),
      (b, rb, n, t, o, root, c))
WAITS(Allreduce, (from_memory b, void* rb, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c), (b, rb, n, t, o, c))
WAITS(Reduce_scatter, (from_memory b, void* rb, numbers n, MPI_Datatype t, MPI_Op o, MPI_Comm c), (b, rb, n, t, o, c))
WAITS(Reduce_scatter_block, (from_memory b, void* rb, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c), (b, rb, n, t, o, c))
WAITS(Scan, (from_memory b, void* rb, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c), (b, rb, n, t, o, c))
WAITS(Exscan, (from_memory b, void* rb, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c), (b, rb, n, t, o, c))

WAITS(Comm_dup, (MPI_Comm c, MPI_Comm* made), (c, made))
WAITS(Comm_create, (MPI_Comm c, MPI_Group g, MPI_Comm* made), (c, g, made))
WAITS(Comm_split, (MPI_Comm c, int color, int key, MPI_Comm* made), (c, color, key, made))
WAITS(Comm_split_type, (MPI_Comm c, int type, int key, MPI_Info i, MPI_Comm* made), (c, type, key, i, made))
WAITS(Win_create, (void* b, MPI_Aint bytes, int unit, MPI_Info i, MPI_Comm c, MPI_Win* w), (b, bytes, unit, i, c, w))
WAITS(Win_allocate, (MPI_Aint bytes, int unit, MPI_Info i, MPI_Comm c, void* b, MPI_Win* w), (bytes, unit, i, c, b, w))
WAITS(Win_fence, (int assert, MPI_Win w), (assert, w))
WAITS(Win_free, (MPI_Win * w), (w))

#define MEETS_OTHERS(NAME, PARAMETERS, ARGUMENTS)                                                                      \
    int MPI_##NAME PARAMETERS {                                                                                        \
        static const auto next = next_call("MPI_" #NAME, &PMPI_##NAME);                                                \
        job::expect_others();                                                                                          \
        return next ARGUMENTS;                                                                                         \
    }

MEETS_OTHERS(Comm_spawn,
             (const char* program, char** words, int n, MPI_Info i, int root, MPI_Comm c, MPI_Comm* made, int* codes),
             (program, words, n, i, root, c, made, codes))
MEETS_OTHERS(Comm_spawn_multiple,
             (int count, char** programs, char*** words, numbers n, const MPI_Info* i, int root, MPI_Comm c,
              MPI_Comm* made, int* codes),
             (count, programs, words, n, i, root, c, made, codes))
MEETS_OTHERS(Comm_accept, (const char* port, MPI_Info i, int root, MPI_Comm c, MPI_Comm* made),
             (port, i, root, c, made))
MEETS_OTHERS(Comm_connect, (const char* port, MPI_Info i, int root, MPI_Comm c, MPI_Comm* made),
             (port, i, root, c, made))
MEETS_OTHERS(Comm_join, (int socket, MPI_Comm* made), (socket, made))

int MPI_File_open(MPI_Comm c, const char* path, int mode, MPI_Info i, MPI_File* file) {
    static const auto next = next_call("MPI_File_open", &PMPI_File_open);
    const int code = next(c, path, mode, i, file);
    if (code == MPI_SUCCESS) job::expect_others();
    return code;
}

int MPI_File_close(MPI_File* file) {
    static const auto next = next_call("MPI_File_close", &PMPI_File_close);
    const int code = next(file);
    if (code == MPI_SUCCESS) job::expect_others(-1);
    return code;
}

} // extern "C"
