/* SPDX-License-Identifier: Apache-2.0 */
/* PE 1 ends as the second argument says, and the others wait for more of it, as the first one says; or nobody does
 * wrong, and PEs wait long for one another beside one that has left. */
#include <shmem.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static long word, sum, lock, sums[2], set_sync[SHMEM_REDUCE_SYNC_SIZE], set_work[SHMEM_REDUCE_MIN_WRKDATA_SIZE];

static void leave(const char* how) {
    if (strcmp(how, "finalize") == 0) shmem_finalize();
    if (strcmp(how, "exit") == 0) exit(0);
}

/* Each waits for the next one, and the last one lets all others wait. */
static void be_patient(int me, int pes) {
    shmem_team_t rest;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, pes == 2 ? 1 : 2, (pes + 1) / 2, NULL, 0, &rest);
    if (me == 1) return;
    for (int round = 1; round <= 1; round++) {
        if (me == (pes == 2 ? 0 : pes - 2)) {
            sleep(2);
        } else if (me % 2 == 0) {
            shmem_long_wait_until(&word, SHMEM_CMP_GE, round);
        }
        if (me % 2 == 0 && me > 0) shmem_long_p(&word, round, me - 2);
        shmem_set_lock(&lock);
        sleep(1);
        shmem_clear_lock(&lock);
        if (rest != SHMEM_TEAM_INVALID) shmem_team_sync(rest);
    }
}

static void* store_late(void* where) {
    sleep(4);
    __atomic_store_n((long*)where, 1, __ATOMIC_RELEASE);
    return NULL;
}

/* A thread that makes no calls, as SHMEM_THREAD_FUNNELED allows, ends the wait of its own PE. */
static void be_helped(int me) {
    pthread_t helper;
    if (me == 1) return;
    pthread_create(&helper, NULL, store_late, &word);
    shmem_long_wait_until(&word, SHMEM_CMP_EQ, 1);
    pthread_join(helper, NULL);
}

/* A child's exit() is not the PE's. */
static void fork_a_child(void) {
    const pid_t child = fork();
    if (child == 0) exit(0);
    waitpid(child, NULL, 0);
    shmem_barrier_all();
}

int main(int argc, char** argv) {
    if (argc < 3) return 2;
    const char *const way = argv[1], *const how = argv[2];
    int level = SHMEM_THREAD_SINGLE;
    shmem_init_thread(strcmp(way, "helped") == 0 ? SHMEM_THREAD_FUNNELED : SHMEM_THREAD_SINGLE, &level);
    const int me = shmem_my_pe(), pes = shmem_n_pes();
    shmem_team_t all;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, pes, NULL, 0, &all);
    void* const memory = shmem_malloc(8);
    if (strcmp(way, "lock") == 0 && me == 1) shmem_set_lock(&lock);
    shmem_barrier_all();
    const int is_patient = strcmp(way, "patient") == 0, is_helped = strcmp(way, "helped") == 0;
    if (is_patient || is_helped || strcmp(way, "fork") == 0) {
        if (is_patient)
            be_patient(me, pes);
        else if (is_helped)
            be_helped(me);
        else
            fork_a_child();
        printf("right\n");
        fflush(stdout);
        leave(how);
        return 0;
    }
    if (me == 1) {
        leave(how);
        return 0;
    }
    if (strcmp(way, "shmem_barrier_all") == 0) shmem_barrier_all();
    if (strcmp(way, "shmem_sync_all") == 0) shmem_sync_all();
    if (strcmp(way, "shmem_team_sync") == 0) shmem_team_sync(all);
    if (strcmp(way, "shmem_team_destroy") == 0) shmem_team_destroy(all);
    if (strcmp(way, "shmem_team_split_strided") == 0) shmem_team_split_strided(all, 0, 1, 1, NULL, 0, &all);
    if (strcmp(way, "shmem_long_sum_reduce") == 0) shmem_long_sum_reduce(all, &sum, &word, 1);
    if (strcmp(way, "shmem_long_broadcast") == 0) shmem_long_broadcast(SHMEM_TEAM_WORLD, &sum, &word, 1, 0);
    if (strcmp(way, "shmem_long_sum_to_all") == 0) shmem_long_sum_to_all(sums, &word, 1, 0, 0, pes, set_work, set_sync);
    if (strcmp(way, "shmem_barrier") == 0) shmem_barrier(0, 0, pes, set_sync);
    if (strcmp(way, "shmem_malloc") == 0) (void)shmem_malloc(8);
    if (strcmp(way, "shmem_free") == 0) shmem_free(memory);
    if (strcmp(way, "shmem_long_wait_until") == 0 || strcmp(way, "lock") == 0) {
        if (me == 0 && strcmp(way, "lock") == 0) shmem_set_lock(&lock);
        shmem_long_wait_until(&word, SHMEM_CMP_EQ, 1);
    }
    printf("PE %d goes on without PE 1\n", me);
    return 0;
}
