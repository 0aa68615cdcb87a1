/* SPDX-License-Identifier: Apache-2.0 */
/* A word that is put is stored once: what its target stores there, when it has seen it, stays. */
#include <shmem.h>

#include <stdio.h>

static long longs[1000];
static int ints[4];
static short shorts[4];
static long rounds;

/* Each PE of a pair waits for the other one's word, takes it away, and puts its own. Words are 1 and 2 in turn. */
#define TAKE_TURNS(TYPE, NAME, WORDS, COUNT)                                                                           \
    static int NAME##s_take_turns_##COUNT(int me, int other) {                                                         \
        TYPE sent[COUNT] = {0};                                                                                        \
        for (long i = 0; i < rounds; i++) {                                                                            \
            const TYPE next = (TYPE)(1 + i % 2);                                                                       \
            for (int k = 0; k < (COUNT); k++) sent[k] = next;                                                          \
            if (me % 2 == 0) shmem_##NAME##_put(WORDS, sent, COUNT, other);                                            \
            shmem_##NAME##_wait_until(&(WORDS)[(COUNT) - 1], SHMEM_CMP_NE, 0);                                         \
            for (int k = 0; k < (COUNT); k++)                                                                          \
                if ((WORDS)[k] != next) return 0;                                                                      \
            (WORDS)[(COUNT) - 1] = 0;                                                                                  \
            if (me % 2 == 1) shmem_##NAME##_put(WORDS, sent, COUNT, other);                                            \
        }                                                                                                              \
        return 1;                                                                                                      \
    }
TAKE_TURNS(long, long, longs, 1)
TAKE_TURNS(long, long, longs, 3)
TAKE_TURNS(long, long, longs, 4)
TAKE_TURNS(long, long, longs, 1000)
TAKE_TURNS(int, int, ints, 1)
TAKE_TURNS(short, short, shorts, 1)

int main(void) {
    shmem_init();
    const int me = shmem_my_pe(), other = me ^ 1;
    int right = 1;
    rounds = shmem_ptr(longs, other) != NULL ? 20000 : 1000;
    if (other < shmem_n_pes()) {
        right = longs_take_turns_1(me, other) && longs_take_turns_3(me, other) && longs_take_turns_4(me, other) &&
                longs_take_turns_1000(me, other) && ints_take_turns_1(me, other) && shorts_take_turns_1(me, other);
    }
    puts(right ? "right" : "WRONG");
    if (!right) shmem_global_exit(1); /* the other one waits */
    shmem_finalize();
    return 0;
}
