/* SPDX-License-Identifier: Apache-2.0 */
/* Strided access, atomics, signals, locks, teams, contexts and collectives, by their generic names where they have one.
 */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;
#define CHECK(what)                                                                                                    \
    do {                                                                                                               \
        if (!(what)) {                                                                                                 \
            failures++;                                                                                                \
            printf("PE %d: line %d: %s\n", shmem_my_pe(), __LINE__, #what);                                            \
        }                                                                                                              \
    } while (0)

static int me, all, next, before;
static uint64_t signal_word;
static long lock, shared_count;
static int table[64], gathered[64 * 4], source[64 * 4];
static double sums[3], parts[3] = {1, 2, 3};

static void strided(void) {
    int mine[16];
    for (int i = 0; i < 16; i++) mine[i] = me * 100 + i;
    memset(table, 0, sizeof table);
    shmem_barrier_all();
    shmem_iput(table, mine, 3, 2, 8, next);
    shmem_barrier_all();
    for (int i = 0; i < 8; i++) CHECK(table[3 * i] == before * 100 + 2 * i && table[3 * i + 1] == 0);
    int back[8];
    shmem_iget(back, table, 1, 3, 8, next);
    for (int i = 0; i < 8; i++) CHECK(back[i] == me * 100 + 2 * i);
    shmem_barrier_all();
}

static void atomics(void) {
    static long word;
    static unsigned int bits;
    static float number;
    word = 0, bits = 0, number = 0;
    shmem_barrier_all();
    for (int i = 0; i < 1000; i++) shmem_atomic_inc(&word, 0);
    shmem_atomic_or(&bits, 1u << me, 0);
    shmem_barrier_all();
    CHECK(shmem_g(&word, 0) == 1000L * all);
    CHECK(shmem_atomic_fetch(&bits, 0) == (1u << all) - 1);
    shmem_barrier_all();
    CHECK(shmem_atomic_compare_swap(&word, -1L, 5L, me) == (me == 0 ? 1000L * all : 0));
    CHECK(shmem_atomic_swap(&number, 2.5f, me) == 0 && shmem_atomic_fetch(&number, me) == 2.5f);
    shmem_barrier_all();
}

static void signals(void) {
    signal_word = 0;
    shmem_barrier_all();
    int mine[4] = {me, me + 1, me + 2, me + 3};
    shmem_put_signal(table, mine, 4, &signal_word, 1, SHMEM_SIGNAL_ADD, next);
    CHECK(shmem_signal_wait_until(&signal_word, SHMEM_CMP_GE, 1) == 1);
    CHECK(table[0] == before && table[3] == before + 3);
    shmem_barrier_all();
}

static void locks(void) {
    shared_count = 0;
    shmem_barrier_all();
    for (int i = 0; i < 100; i++) {
        shmem_set_lock(&lock);
        shmem_p(&shared_count, shmem_g(&shared_count, 0) + 1, 0);
        shmem_clear_lock(&lock);
    }
    shmem_barrier_all();
    CHECK(shmem_g(&shared_count, 0) == 100L * all);
    shmem_barrier_all();
    if (me == 0) {
        CHECK(shmem_test_lock(&lock) == 0);
        CHECK(shmem_test_lock(&lock) == 1);
        shmem_clear_lock(&lock);
    }
    shmem_barrier_all();
    CHECK(lock == 0 || me != 0);
}

static void collectives(shmem_team_t team) {
    const int own = shmem_team_my_pe(team), size = shmem_team_n_pes(team);
    for (int i = 0; i < 4 * size; i++) source[i] = own * 1000 + i;
    CHECK(shmem_alltoall(team, gathered, source, 4) == 0);
    for (int pe = 0; pe < size; pe++) CHECK(gathered[4 * pe + 1] == pe * 1000 + own * 4 + 1);
    CHECK(shmem_fcollect(team, gathered, source, 4) == 0);
    for (int pe = 0; pe < size; pe++) CHECK(gathered[4 * pe + 3] == pe * 1000 + 3);
    CHECK(shmem_collect(team, gathered, source, own + 1) == 0);
    for (int pe = 0, at = 0; pe < size; at += ++pe)
        CHECK(gathered[at] == pe * 1000 && gathered[at + pe] == pe * 1000 + pe);
    CHECK(shmem_broadcast(team, gathered, source, 2, size - 1) == 0);
    CHECK(gathered[0] == (size - 1) * 1000 && gathered[1] == (size - 1) * 1000 + 1);
    CHECK(shmem_sum_reduce(team, sums, parts, 3) == 0);
    CHECK(sums[0] == size && sums[2] == 3.0 * size);
    CHECK(shmem_max_reduce(team, source, source, 4) == 0); /* in place */
    CHECK(source[3] == (size - 1) * 1000 + 3);
    shmem_team_sync(team);
}

static void teams(void) {
    shmem_team_t even = SHMEM_TEAM_INVALID, x, y;
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, (all + 1) / 2, NULL, 0, &even) == 0);
    CHECK((even != SHMEM_TEAM_INVALID) == (me % 2 == 0));
    if (even != SHMEM_TEAM_INVALID) {
        CHECK(shmem_team_my_pe(even) == me / 2 && shmem_team_translate_pe(even, 0, SHMEM_TEAM_WORLD) == 0);
        collectives(even);
        /* A context numbers PEs as its team does. */
        shmem_ctx_t ctx;
        CHECK(shmem_team_create_ctx(even, 0, &ctx) == 0);
        const int last = shmem_team_n_pes(even) - 1;
        static int from_team;
        if (shmem_team_my_pe(even) == 0) shmem_p(ctx, &from_team, 77, last);
        shmem_ctx_quiet(ctx);
        shmem_team_sync(even);
        CHECK(shmem_team_my_pe(even) != last || from_team == 77);
        shmem_ctx_destroy(ctx);
        shmem_team_destroy(even);
    }
    CHECK(shmem_team_split_2d(SHMEM_TEAM_WORLD, 2, NULL, 0, &x, NULL, 0, &y) == 0);
    CHECK(shmem_team_my_pe(x) == me % 2 && shmem_team_my_pe(y) == me / 2);
    collectives(x);
    collectives(y);
    shmem_team_destroy(x);
    shmem_team_destroy(y);
}

int main(void) {
    int provided;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    me = shmem_my_pe(), all = shmem_n_pes(), next = (me + 1) % all, before = (me + all - 1) % all;
    CHECK(provided == SHMEM_THREAD_MULTIPLE);
    shmem_barrier_all(); /* all have set their `all` */
    CHECK(shmem_addr_accessible(table, next) && !shmem_addr_accessible(&provided, next));
    int* const its_all = shmem_ptr(&all, next); /* none on another node */
    const char* const on_node = getenv("PROCESSES_PER_NODE");
    CHECK((its_all == NULL) == (on_node != NULL && me / atoi(on_node) != next / atoi(on_node)));
    CHECK(its_all == NULL || *its_all == all);
    strided();
    atomics();
    signals();
    locks();
    collectives(SHMEM_TEAM_WORLD);
    teams();
    shmem_barrier_all();
    puts(failures == 0 ? "right" : "WRONG");
    shmem_finalize();
    return 0;
}
