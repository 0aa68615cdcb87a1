/* SPDX-License-Identifier: Apache-2.0 */
/* Two PEs on different nodes: MPI_Send with an answer at the end, puts with a quiet, and gets, blocking and not, in
 * turn; medians in MB/s and the parts of MPI's. Usage: messages [ROUNDS] */
#define _POSIX_C_SOURCE 200809L
#include "timing.h"

#include <mpi.h>
#include <shmem.h>

#include <stdio.h>
#include <string.h>

enum { most_rounds = 99, least_bytes = 1 << 20, most_bytes = 16 << 20, all_bytes = 32 << 20 };
static char *there, *mine;

static void send(int count, int bytes) {
    char answer = 0;
    const int me = shmem_my_pe();
    for (int i = 0; i < count; i++) {
        if (me == 0)
            MPI_Send(mine, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        else
            MPI_Recv(mine, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (me == 1)
        MPI_Send(&answer, 1, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    else
        MPI_Recv(&answer, 1, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void put(int count, int bytes) {
    for (int i = 0; shmem_my_pe() == 0 && i < count; i++) shmem_putmem(there, mine, (size_t)bytes, 1);
    shmem_quiet();
}
static void get(int count, int bytes) {
    for (int i = 0; shmem_my_pe() == 0 && i < count; i++) shmem_getmem(mine, there, (size_t)bytes, 1);
}
static void put_nbi(int count, int bytes) {
    for (int i = 0; shmem_my_pe() == 0 && i < count; i++) shmem_putmem_nbi(there, mine, (size_t)bytes, 1);
    shmem_quiet();
}
static void get_nbi(int count, int bytes) {
    for (int i = 0; shmem_my_pe() == 0 && i < count; i++) shmem_getmem_nbi(mine, there, (size_t)bytes, 1);
    shmem_quiet();
}

enum { ways = 5 };
static void (*const way[ways])(int count, int bytes) = {send, put, get, put_nbi, get_nbi};
static const char* const names[ways] = {"MPI", "put", "get", "put_nbi", "get_nbi"};

int main(int count, char** words) {
    const int asked = count > 1 ? atoi(words[1]) : 7, rounds = asked < 1             ? 1
                                                               : asked > most_rounds ? most_rounds
                                                                                     : asked;
    MPI_Init(&count, &words);
    shmem_init();
    const int me = shmem_my_pe();
    there = shmem_malloc(most_bytes);
    mine = malloc(most_bytes);
    memset(there, 1, most_bytes);
    memset(mine, 2, most_bytes);
    if (me == 0 && shmem_ptr(there, 1) != NULL) printf("PE 1 is on the same node: these are copies in memory\n");
    for (int bytes = least_bytes; bytes <= most_bytes; bytes *= 4) {
        double rate[ways][most_rounds], median[ways];
        for (int round = -1; round < rounds; round++) /* the first does not count */
            for (int i = 0; i < ways; i++) {
                shmem_barrier_all();
                const double start = now_us();
                way[i](all_bytes / bytes, bytes);
                if (round >= 0) rate[i][round] = all_bytes / (now_us() - start);
            }
        for (int i = 0; i < ways; i++) median[i] = quantile(rate[i], rounds, 0.5);
        if (me == 0) printf("%2d MiB", bytes >> 20);
        for (int i = 0; me == 0 && i < ways; i++)
            printf("  %s %.1f (%.2f)", names[i], median[i], median[i] / median[0]);
        if (me == 0) printf("\n");
        fflush(stdout);
    }
    free(mine);
    shmem_finalize();
    MPI_Finalize();
    return 0;
}
