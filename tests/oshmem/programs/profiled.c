/* SPDX-License-Identifier: Apache-2.0 */
/* A tool in the program takes calls of one name, counts them, and goes on by the second name. */
#include <pshmem.h>
#include <stdio.h>

static int puts_seen, barriers_seen;

void shmem_long_p(long* target, long value, int pe) {
    ++puts_seen;
    pshmem_long_p(target, value, pe);
}

void shmem_barrier_all(void) {
    ++barriers_seen;
    pshmem_barrier_all();
}

static long from_before;
static long sum_of[2];

int main(void) {
    pshmem_init();
    const int me = pshmem_my_pe(), all = pshmem_n_pes();
    shmem_long_p(&from_before, me + 1, (me + 1) % all);
    shmem_barrier_all();
    const long before = (me + all - 1) % all;
    sum_of[0] = me;
    pshmem_long_sum_reduce(SHMEM_TEAM_WORLD, &sum_of[1], &sum_of[0], 1);
    const long seen = pshmem_long_atomic_fetch_add(&from_before, 5, me);
    const int right = from_before == before + 6 && seen == before + 1 && puts_seen == 1 && barriers_seen == 1 &&
                      sum_of[1] == (long)all * (all - 1) / 2;
    puts(right ? "right" : "WRONG");
    shmem_finalize();
    return right ? 0 : 1;
}
