/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives on memory that is not symmetric, as programs in the wild call them: on the stack, and from malloc. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 5000 };

int main(void) {
    shmem_init();
    const int me = shmem_my_pe(), all = shmem_n_pes();
    int right = 1;
    for (int round = 1; round <= 3; ++round) {
        const size_t count = (size_t)(round == 2 ? 3 : COUNT) * (size_t)round; /* it grows, and shrinks */
        const int root = round % all;
        long word = 100 * me + round;
        shmem_long_broadcast(SHMEM_TEAM_WORLD, &word, &word, 1, root);
        right = right && word == 100 * root + round;

        double own = me + 1, sum = 0;
        shmem_double_sum_reduce(SHMEM_TEAM_WORLD, &sum, &own, 1);
        right = right && sum == all * (all + 1) / 2;

        long* const source = malloc(count * (size_t)all * sizeof(long));
        long* const target = malloc(count * (size_t)all * sizeof(long));
        for (size_t i = 0; i < count * (size_t)all; ++i) source[i] = (long)i * 10 + me;
        shmem_long_alltoall(SHMEM_TEAM_WORLD, target, source, count);
        for (int pe = 0; pe < all; ++pe)
            for (size_t i = 0; i < count; ++i)
                right = right && target[(size_t)pe * count + i] == (long)((size_t)me * count + i) * 10 + pe;
        shmem_long_fcollect(SHMEM_TEAM_WORLD, target, source, count);
        for (int pe = 0; pe < all; ++pe)
            for (size_t i = 0; i < count; ++i) right = right && target[(size_t)pe * count + i] == (long)i * 10 + pe;
        shmem_long_max_reduce(SHMEM_TEAM_WORLD, target, source, count);
        for (size_t i = 0; i < count; ++i) right = right && target[i] == (long)i * 10 + all - 1;
        shmem_long_sum_reduce(SHMEM_TEAM_WORLD, source, source, count); /* in place */
        for (size_t i = 0; i < count; ++i) right = right && source[i] == (long)i * 10 * all + all * (all - 1) / 2;
        free(source);
        free(target);
    }
    puts(right ? "right" : "WRONG");
    shmem_finalize();
    return right ? 0 : 1;
}
