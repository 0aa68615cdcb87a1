/* SPDX-License-Identifier: Apache-2.0 */
/* Says what it is called with, and ends as the first word says: with that status on the last PE, or by a signal. */
#include <shmem.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int count, char** words) {
    shmem_init();
    const int is_last = shmem_my_pe() == shmem_n_pes() - 1;
    printf("PE %d of %d:", shmem_my_pe(), shmem_n_pes());
    for (int i = 1; i < count; i++) printf(" <%s>", words[i]);
    printf("\n");
    fflush(stdout);
    shmem_barrier_all();
    if (is_last && count > 1 && strcmp(words[1], "killed") == 0) raise(SIGKILL);
    if (is_last && count > 1 && atoi(words[1]) != 0) exit(atoi(words[1]));
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
