/* SPDX-License-Identifier: Apache-2.0 */
/* A token goes round by puts to a static variable, and to the heap. */
#include <shmem.h>
#include <stdio.h>

static long token = -1;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe(), all = shmem_n_pes();
    long* sum = shmem_calloc(1, sizeof *sum);
    shmem_barrier_all();
    if (me == 0) shmem_long_p(&token, 100, 1 % all);
    shmem_long_wait_until(&token, SHMEM_CMP_NE, -1);
    const long seen = token;
    if (me != 0) shmem_long_p(&token, seen + 1, (me + 1) % all);
    shmem_long_atomic_add(sum, me, 0);
    shmem_barrier_all();
    const long expected = me == 0 ? 100 + all - 1 : 100 + me - 1;
    const long total = shmem_long_g(sum, 0);
    puts(seen == expected && total == all * (all - 1L) / 2 ? "right" : "WRONG");
    shmem_finalize();
    return 0;
}
