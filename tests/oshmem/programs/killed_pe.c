/* SPDX-License-Identifier: Apache-2.0 */
/* The last PE kills itself, or is killed by PE 0 behind the begin of a transfer; the others wait for it in the way that
 * the argument names, and must not wait for ever. */
#define _POSIX_C_SOURCE 200809L
#include <shmem.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static long word, sum, lock, pid, large[1 << 18];

int main(int argc, char** argv) {
    alarm(100);
    shmem_init();
    const int me = shmem_my_pe(), last = shmem_n_pes() - 1;
    const char* const how = argc > 1 ? argv[1] : "";
    static long here[1 << 18];
    const int is_get = strcmp(how, "open_get") == 0, is_put = strcmp(how, "open_put") == 0;
    pid = getpid();
    if (me == last && strcmp(how, "lock") == 0) shmem_set_lock(&lock);
    shmem_barrier_all();
    if (me == 0 && (is_get || is_put)) {
        const pid_t other = (pid_t)shmem_long_g(&pid, last);
        shmem_quiet(); /* the barrier's messages */
        kill(other, SIGSTOP); /* so that the transfer stays open */
        if (is_get) shmem_long_get_nbi(here, large, 1 << 18, last);
        if (is_put) shmem_long_put_nbi(large, here, 1 << 18, last);
        kill(other, SIGKILL);
        shmem_quiet();
        printf("PE %d: shmem_quiet has returned, as if nothing had happened\n", me);
        fflush(stdout);
    }
    if (is_get || is_put) shmem_long_wait_until(&word, SHMEM_CMP_EQ, 1);
    if (me == last && strcmp(how, "putting") == 0)
        for (int i = 0;; i++) {
            if (i == 100) raise(SIGKILL);
            shmem_long_put(large, here, 1 << 18, 0);
        }
    if (me == last) raise(SIGKILL);
    if (strcmp(how, "wait") == 0 || strcmp(how, "putting") == 0) shmem_long_wait_until(&word, SHMEM_CMP_EQ, 1);
    if (strcmp(how, "barrier") == 0) shmem_barrier_all();
    if (strcmp(how, "sum") == 0)
        for (;;) shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &sum, &word, 1);
    if (strcmp(how, "get") == 0)
        for (;;) shmem_long_get(here, large, 1 << 18, last);
    if (strcmp(how, "put") == 0)
        for (;;) shmem_long_put(large, here, 1 << 18, last);
    if (strcmp(how, "get_nbi") == 0)
        for (;;) shmem_long_get_nbi(here, large, 1 << 18, last);
    if (strcmp(how, "put_nbi") == 0)
        for (;;) shmem_long_put_nbi(large, here, 1 << 18, last);
    if (strcmp(how, "strided") == 0)
        for (;;) shmem_long_iget(here, large, 2, 3, 1 << 16, last);
    if (strcmp(how, "quiet") == 0)
        for (;;) {
            shmem_long_p(&word, 1, last);
            shmem_quiet();
        }
    if (strcmp(how, "atomic") == 0)
        for (;;) shmem_long_atomic_fetch_inc(&word, last);
    if (strcmp(how, "lock") == 0) shmem_set_lock(&lock);
    shmem_finalize();
    printf("PE %d: it has ended as if nothing had happened\n", me);
    return 0;
}
