/* SPDX-License-Identifier: Apache-2.0 */
/* SHMEM_TEAM_SHARED: the PEs whose memory this one reaches by loads and stores, PROCESSES_PER_NODE of them if that is
 * set, else all. */
#include <shmem.h>

#include <stdio.h>
#include <stdlib.h>

static int failures;
#define CHECK(what)                                                                                                    \
    do {                                                                                                               \
        if (!(what)) {                                                                                                 \
            failures++;                                                                                                \
            printf("PE %d: line %d: %s\n", shmem_my_pe(), __LINE__, #what);                                            \
        }                                                                                                              \
    } while (0)

static int number, numbers[4], sum, word;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe(), all = shmem_n_pes();
    const char* const text = getenv("PROCESSES_PER_NODE");
    const int on_node = text != NULL ? atoi(text) : all, first = me / on_node * on_node;
    const shmem_team_t near = SHMEM_TEAM_SHARED;
    const int own = shmem_team_my_pe(near), size = shmem_team_n_pes(near);
    CHECK(size == on_node && own == me - first);
    for (int pe = 0; pe < all; pe++) {
        const int there = shmem_team_translate_pe(SHMEM_TEAM_WORLD, pe, near);
        CHECK((there >= 0) == (shmem_ptr(&number, pe) != NULL));
        CHECK(there < 0 || (there == pe - first && shmem_team_translate_pe(near, there, SHMEM_TEAM_WORLD) == pe));
    }

    /* Collectives, and loads without a call. */
    number = me + 1;
    CHECK(shmem_team_sync(near) == 0);
    int expected = 0;
    for (int i = 0; i < size; i++) {
        expected += first + i + 1;
        CHECK(*(int*)shmem_ptr(&number, first + i) == first + i + 1);
    }
    CHECK(shmem_int_sum_reduce(near, &sum, &number, 1) == 0 && sum == expected);
    CHECK(shmem_int_fcollect(near, numbers, &number, 1) == 0 && numbers[size - 1] == first + size);
    CHECK(shmem_int_broadcast(near, &sum, &number, 1, size - 1) == 0 && sum == first + size);

    /* A context numbers PEs as the team does; so does a team made of it. */
    shmem_ctx_t ctx;
    CHECK(shmem_team_create_ctx(near, 0, &ctx) == 0);
    shmem_ctx_int_p(ctx, &word, me + 100, (own + 1) % size);
    shmem_ctx_quiet(ctx);
    shmem_team_sync(near);
    CHECK(word == first + (own + size - 1) % size + 100);
    shmem_ctx_destroy(ctx);
    shmem_team_t last = SHMEM_TEAM_INVALID;
    CHECK(shmem_team_split_strided(near, size - 1, 1, 1, NULL, 0, &last) == 0);
    CHECK((last != SHMEM_TEAM_INVALID) == (own == size - 1));
    CHECK(last == SHMEM_TEAM_INVALID || shmem_team_translate_pe(last, 0, SHMEM_TEAM_WORLD) == me);
    shmem_team_destroy(last);
    shmem_team_destroy(near); /* stays */
    CHECK(shmem_team_sync(near) == 0);
    puts(failures == 0 ? "right" : "WRONG");
    shmem_finalize();
    return 0;
}
