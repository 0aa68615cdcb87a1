/* SPDX-License-Identifier: Apache-2.0 */
/* PE 1 ends as the second argument says, and the others wait for it in MPI, as the first one says; or nobody does
 * wrong. */
#include <mpi.h>
#include <shmem.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static long word;

static void leave(const char* how) {
    if (strcmp(how, "kill") == 0) raise(SIGKILL);
    if (strcmp(how, "finalize") == 0) shmem_finalize();
    if (strcmp(how, "exit") == 0) exit(0);
}

static void pass_time(int seconds) { nanosleep(&(struct timespec){.tv_sec = seconds}, NULL); }

/* PE 1 is early. The others need more than its patience (2 s in the test), but not in one call; or one of them
 * computes and the others wait for it. */
static void be_slow(int me, int pes) {
    int number = 0;
    MPI_Comm rest;
    MPI_Comm_split(MPI_COMM_WORLD, me == 1, me, &rest);
    if (me == 1) return;
    if (me == 0) pass_time(5);
    MPI_Barrier(rest);
    for (int i = 0; i < 5; i++) {
        if (me == 0) pass_time(1);
        MPI_Bcast(&number, 1, MPI_INT, 0, rest);
    }
    MPI_Comm_free(&rest);
    (void)pes;
}

int main(int argc, char** argv) {
    if (argc < 3) return 2;
    const char *const way = argv[1], *const how = argv[2];
    int number = 0, sum = 0;
    MPI_Init(&argc, &argv);
    shmem_init();
    const int me = shmem_my_pe(), pes = shmem_n_pes();
    shmem_barrier_all();
    if (strcmp(way, "slow") == 0) {
        be_slow(me, pes);
        shmem_finalize();
        MPI_Barrier(MPI_COMM_WORLD); /* MPI alone goes on */
        MPI_Finalize();
        printf("right\n");
        return 0;
    }
    if (me == 1) {
        leave(how);
        return 0;
    }
    if (strcmp(way, "MPI_Barrier") == 0) MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(way, "MPI_Recv") == 0) MPI_Recv(&number, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (strcmp(way, "MPI_Allreduce") == 0) MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (strcmp(way, "MPI_Finalize") == 0) MPI_Finalize();
    if (strcmp(way, "MPI_Waitall") == 0) {
        MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        MPI_Irecv(&number, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    /* One in MPI, and the others in OpenSHMEM. */
    if (strcmp(way, "mixed") == 0 && me == 0) MPI_Recv(&number, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (strcmp(way, "mixed") == 0) shmem_long_wait_until(&word, SHMEM_CMP_EQ, 1);
    printf("PE %d goes on without PE 1\n", me);
    fflush(stdout);
    return 0;
}
