/* SPDX-License-Identifier: Apache-2.0 */
/* The PE is a child of the process that the launcher has started. */
#define _POSIX_C_SOURCE 200809L
#include <shmem.h>

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static int before = 5, from_neighbour, zeros[1 << 16];

static int be_pe(void) {
    shmem_init();
    const int me = shmem_my_pe(), pes = shmem_n_pes();
    shmem_int_p(&from_neighbour, before + me, (me + 1) % pes);
    shmem_int_p(&zeros[1 << 15], me + 1, (me + 1) % pes);
    shmem_barrier_all();
    const int neighbour = (me + pes - 1) % pes;
    const int right = from_neighbour == 6 + neighbour && zeros[1 << 15] == neighbour + 1;
    puts(right ? "right" : "WRONG");
    return right ? 0 : 1;
}

int main(void) {
    before = 6;
    const pid_t child = fork();
    if (child == 0) return be_pe();
    int status = 1;
    waitpid(child, &status, 0);
    return status == 0 && before == 6 && from_neighbour == 0 ? 0 : 1;
}
