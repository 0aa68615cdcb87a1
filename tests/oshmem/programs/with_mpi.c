/* SPDX-License-Identifier: Apache-2.0 */
/* MPI and OpenSHMEM in one program. Which is initialised first, and which ends first, the first argument says; the
 * second one how many threads MPI is asked for. */
#include <mpi.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long word;

int main(int count, char** words) {
    const char* order = count > 1 ? words[1] : "mpi-shmem-shmem-mpi";
    const char* const names[] = {"single", "funneled", "serialized", "multiple"};
    const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};
    int provided = -1, level = -1;
    for (int i = 0; i < 4 && count > 2; i++)
        if (strcmp(words[2], names[i]) == 0) level = levels[i];
    if (strncmp(order, "shmem-", 6) == 0) shmem_init();
    if (level >= 0)
        MPI_Init_thread(&count, &words, level, &provided);
    else
        MPI_Init(&count, &words);
    if (strncmp(order, "mpi-", 4) == 0) shmem_init();
    int rank = -1, ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int me = shmem_my_pe(), all = shmem_n_pes();
    shmem_long_atomic_add(&word, me + 1, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    long sum = me == 0 ? word : 0;
    MPI_Bcast(&sum, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    int right = rank == me && ranks == all && (level < 0 || provided == MPI_THREAD_MULTIPLE) &&
                sum == (long)all * (all + 1) / 2;
    /* On nodes of their own, PEs do not see memory of one another. */
    const char* on_node = getenv("PROCESSES_PER_NODE");
    const int is_far = on_node != NULL && me / atoi(on_node) != (me + 1) % all / atoi(on_node);
    right = right && (shmem_ptr(&word, (me + 1) % all) == NULL) == is_far;
    if (strcmp(order + strlen(order) - 4, "-mpi") == 0) {
        shmem_finalize();
        right = right && MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS;
        MPI_Finalize();
    } else {
        MPI_Finalize();
        word = 0;
        shmem_barrier_all();
        shmem_long_atomic_inc(&word, (me + 1) % all);
        shmem_barrier_all();
        right = right && word == 1;
        shmem_finalize();
    }
    puts(right ? "right" : "WRONG");
    return right ? 0 : 1;
}
