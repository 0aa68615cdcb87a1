/* SPDX-License-Identifier: Apache-2.0 */
/* Non-blocking puts and gets return though their target is stopped, and shmem_quiet waits for them, with contexts and
 * without, small and large; so do barriers and shmem_finalize. */
#define _POSIX_C_SOURCE 200809L
#include <shmem.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { few = 10, many = 300000, threads = 3, more_than_are_kept = 600 };
static int failures;
#define CHECK(what)                                                                                                    \
    do {                                                                                                               \
        if (!(what)) {                                                                                                 \
            failures++;                                                                                                \
            printf("PE %d: line %d: %s\n", shmem_my_pe(), __LINE__, #what);                                            \
        }                                                                                                              \
    } while (0)

static int me, all, next, before;
static long pid, table[many], given[many], fetched[many], words[2 * more_than_are_kept], places[threads][few];
static short parts[few];

static int is_count(const long* numbers, int count, long first) {
    for (int i = 0; i < count; i++)
        if (numbers[i] != first + i) return 0;
    return 1;
}

static void* get_by_a_thread(void* place) {
    long* const mine = place;
    for (int i = 0; i < 50; i++) {
        memset(mine, 0, few * sizeof *mine);
        shmem_long_get_nbi(mine, table + i, few, next);
        shmem_quiet();
        if (!is_count(mine, few, me * 1000L + i)) return "wrong";
    }
    return NULL;
}

typedef void (*sized_call)(void*, const void*, size_t, int);
typedef void (*sized_context_call)(shmem_ctx_t, void*, const void*, size_t, int);

/* No more and no less than `few` elements are written. */
static void check_sizes(size_t bytes, sized_call put, sized_call get, sized_context_call context_put,
                        sized_context_call context_get) {
    static unsigned char to[2][(few + 1) * 16], from[2][(few + 1) * 16], back[2][(few + 1) * 16];
    memset(to, 0, sizeof to);
    memset(back, 0, sizeof back);
    for (size_t i = 0; i < sizeof from[0]; i++)
        from[0][i] = (unsigned char)(i % 9 + 1 + (unsigned)me), from[1][i] = 200;
    shmem_barrier_all();
    put(to[0], from[0], few, next);
    context_put(SHMEM_CTX_DEFAULT, to[1], from[1], few, next);
    shmem_quiet();
    get(back[0], to[0], few + 1, next); /* with what was not to be written */
    context_get(SHMEM_CTX_DEFAULT, back[1], to[1], few, next);
    shmem_quiet();
    const size_t in_all = few * bytes;
    for (int i = 0; i < 2; i++) {
        CHECK(memcmp(back[i], from[i], in_all) == 0);
        for (size_t j = in_all; j < sizeof back[i]; j++) CHECK(back[i][j] == 0);
    }
    shmem_barrier_all();
}
#define CHECK_SIZE(BITS)                                                                                               \
    check_sizes((BITS) / 8, shmem_put##BITS##_nbi, shmem_get##BITS##_nbi, shmem_ctx_put##BITS##_nbi,                   \
                shmem_ctx_get##BITS##_nbi)

int main(void) {
    int provided;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    me = shmem_my_pe(), all = shmem_n_pes(), next = (me + 1) % all, before = (me + all - 1) % all;
    pid = getpid();
    for (int i = 0; i < many; i++) given[i] = me * 1000L + i;
    shmem_barrier_all();
    for (int turn = 0; turn < all; turn++) {
        memset(table, 0, sizeof table);
        shmem_barrier_all();
        if (turn == me) {
            const pid_t other = (pid_t)shmem_long_g(&pid, next);
            if (next != me) kill(other, SIGSTOP);
            shmem_long_put_nbi(table, given, many, next);
            shmem_fence();
            shmem_long_get_nbi(fetched, table, many, next); /* a later request: of whatever is there */
            shmem_getmem_nbi(parts, parts, sizeof parts, next);
            if (next != me) kill(other, SIGCONT);
            shmem_quiet();
            shmem_get(fetched, table, many, next);
            CHECK(is_count(fetched, many, me * 1000L));
        }
        shmem_barrier_all();
        if (turn == before) CHECK(is_count(table, many, before * 1000L));
        shmem_barrier_all();
    }
    /* In a context: order by a fence, a signal behind it, and more transfers than are kept. */
    memset(table, 0, sizeof table);
    shmem_barrier_all();
    shmem_ctx_t context;
    CHECK(shmem_ctx_create(0, &context) == 0);
    shmem_put_nbi(context, table, given, many, next);
    shmem_ctx_fence(context);
    shmem_put_nbi(context, table + 1, given, few, next);
    shmem_ctx_fence(context);
    shmem_put_nbi(context, table + 1, given + 1, few, next);
    static uint64_t there;
    shmem_put_signal_nbi(context, table, given, 1, &there, 1, SHMEM_SIGNAL_SET, next);
    shmem_signal_wait_until(&there, SHMEM_CMP_EQ, 1);
    CHECK(is_count(table, many, before * 1000L));
    for (int i = 0; i < more_than_are_kept; i++) shmem_get_nbi(context, words + 2 * i, table + i, 1, next);
    shmem_ctx_destroy(context);
    for (int i = 0; i < more_than_are_kept; i++) CHECK(words[2 * i] == me * 1000L + i);
    pthread_t running[threads];
    for (int i = 0; i < threads; i++) pthread_create(running + i, NULL, get_by_a_thread, places[i]);
    for (int i = 0; i < threads; i++) {
        void* what;
        pthread_join(running[i], &what);
        CHECK(what == NULL);
    }
    shmem_barrier_all();
    /* A barrier waits for them as well. */
    memset(fetched, 0, sizeof fetched);
    shmem_long_get_nbi(fetched, table, many, next);
    shmem_barrier_all();
    CHECK(is_count(fetched, many, me * 1000L));
    CHECK_SIZE(8);
    CHECK_SIZE(16);
    CHECK_SIZE(32);
    CHECK_SIZE(64);
    CHECK_SIZE(128);
    /* So does the end. */
    memset(fetched, 0, sizeof fetched);
    shmem_barrier_all();
    shmem_long_get_nbi(fetched, table, many, next);
    shmem_finalize();
    CHECK(is_count(fetched, many, me * 1000L));
    if (failures == 0) printf("right on %d\n", me);
    return failures != 0;
}
