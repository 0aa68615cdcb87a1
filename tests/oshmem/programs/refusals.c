/* SPDX-License-Identifier: Apache-2.0 */
/* Does what it is told, which ends the job. */
#include <mpi.h>
#include <shmem.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static long number;

int main(int count, char** words) {
    const char* what = count > 1 ? words[1] : "";
    long local = 0;
    if (strcmp(what, "early") == 0) shmem_barrier_all();
    shmem_init();
    if (strcmp(what, "local") == 0) shmem_long_p(&local, 1, 0);
    if (strcmp(what, "pe") == 0) shmem_long_p(shmem_malloc(8), 1, 17);
    if (strcmp(what, "set") == 0) shmem_long_max_to_all(&number, &number, 1, 0, 0, 4, NULL, NULL);
    if (strcmp(what, "memory") == 0) (void)shmem_malloc(((size_t)atol(getenv("SHMEM_SYMMETRIC_SIZE")) - 1) << 20);
    if (strcmp(what, "exit_behind_mpi") == 0) {
        MPI_Init(NULL, NULL);
        MPI_Finalize();
        if (shmem_my_pe() != 0) shmem_long_wait_until(&number, SHMEM_CMP_EQ, 1);
        printf("the last words\n");
        shmem_global_exit(atoi(words[2]));
    }
    if (strcmp(what, "exit") == 0 && shmem_my_pe() == 0) shmem_global_exit(7);
    if (strcmp(what, "error") == 0 && shmem_my_pe() == 1) {
        printf("PE 1 gives up\n");
        exit(3);
    }
    if (strcmp(what, "all_err") == 0) {
        if (shmem_my_pe() == 0) {
            shmem_long_wait_until(&number, SHMEM_CMP_EQ, 1);
            nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL); /* PE 1 is at its end */
            printf("the last words\n");
        } else {
            shmem_long_p(&number, 1, 0);
        }
        return 3;
    }
    if (strcmp(what, "killed") == 0 && shmem_my_pe() == 1) raise(SIGKILL);
    shmem_barrier_all();
    shmem_finalize();
    shmem_finalize();
    if (shmem_my_pe() >= shmem_n_pes()) return 1; /* what a PE knows by itself stays known */
    if (strcmp(what, "late") == 0) shmem_barrier_all();
    if (strcmp(what, "late_put") == 0) shmem_long_p(&number, 1, 0);
    if (strcmp(what, "again") == 0) shmem_init();
    return 0;
}
