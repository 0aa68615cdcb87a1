/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of each PE, each with a team of its own: collectives, and the making of teams, at once. */
#include <pthread.h>
#include <shmem.h>
#include <stdio.h>

enum { threads = 3, rounds = 20, numbers = 40, splits = 100 };

static int me, all;
static shmem_team_t teams[threads];
static long sources[threads][numbers], targets[threads][numbers], everyone[threads][64];

/* Sources differ from round to round: who leaves a meeting too early takes wrong ones. */
static void* work(void* argument) {
    const int own = (int)(size_t)argument;
    shmem_team_t team = teams[own];
    const int rank = shmem_team_my_pe(team), size = shmem_team_n_pes(team);
    size_t wrong = 0;
    /* Nothing but splits, which the threads of all PEs begin in any order. */
    for (int i = 0; i < splits; i++) {
        shmem_team_t made;
        wrong += shmem_team_split_strided(team, 0, 1, size, NULL, 0, &made) != 0;
        wrong += shmem_team_my_pe(made) != rank;
        shmem_team_destroy(made);
    }
    for (int round = 0; round < rounds; round++) {
        long private_number = 100 * rank + round;
        for (int i = 0; i < numbers; i++) sources[own][i] = round + i + rank;
        wrong += shmem_long_sum_reduce(team, targets[own], sources[own], numbers) != 0;
        for (int i = 0; i < numbers; i++)
            wrong += targets[own][i] != (long)size * (round + i) + (long)size * (size - 1) / 2;
        shmem_team_sync(team);
        wrong += shmem_long_fcollect(team, everyone[own], &private_number, 1) != 0;
        for (int i = 0; i < size; i++) wrong += everyone[own][i] != 100L * i + round;
        shmem_team_sync(team);
        wrong += shmem_long_broadcast(team, targets[own], sources[own], 1, round % size) != 0;
        wrong += targets[own][0] != round + round % size;
        shmem_team_sync(team);
        if (round % 10 != 0) continue;
        shmem_team_t half = SHMEM_TEAM_INVALID;
        const int first = rank % 2, pes = (size + 1 - first) / 2;
        for (int side = 0; side < 2 && side < size; side++) {
            shmem_team_t made;
            wrong += shmem_team_split_strided(team, side, 2, (size + 1 - side) / 2, NULL, 0, &made) != 0;
            if (made != SHMEM_TEAM_INVALID) half = made;
        }
        wrong += shmem_team_n_pes(half) != pes;
        sources[own][0] = me;
        shmem_team_sync(half);
        wrong += shmem_long_max_reduce(half, targets[own], sources[own], 1) != 0;
        wrong += targets[own][0] != shmem_team_translate_pe(half, pes - 1, SHMEM_TEAM_WORLD);
        shmem_team_destroy(half);
        shmem_team_sync(team);
    }
    return (void*)wrong;
}

int main(void) {
    int provided;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    me = shmem_my_pe(), all = shmem_n_pes();
    for (int i = 0; i < threads; i++)
        if (shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, all, NULL, 0, &teams[i]) != 0) shmem_global_exit(2);
    pthread_t started[threads];
    size_t wrong = provided != SHMEM_THREAD_MULTIPLE;
    for (size_t i = 0; i < threads; i++) pthread_create(&started[i], NULL, work, (void*)i);
    for (int i = 0; i < threads; i++) {
        void* theirs;
        pthread_join(started[i], &theirs);
        wrong += (size_t)theirs;
    }
    for (int i = 0; i < threads; i++) shmem_team_destroy(teams[i]);
    /* As many teams as a program likes, one after the other. */
    for (int i = 0; i < 270; i++) {
        shmem_team_t made;
        wrong += shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, all, NULL, 0, &made) != 0;
        shmem_team_destroy(made);
    }
    shmem_barrier_all();
    if (wrong == 0) printf("right\n");
    if (wrong != 0) printf("PE %d: %zu wrong\n", me, wrong);
    shmem_finalize();
    return 0;
}
