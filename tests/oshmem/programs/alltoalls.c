/* SPDX-License-Identifier: Apache-2.0 */
/* Strided exchanges between all PEs: each type and width, strides of both sides, and what lies between the elements. */
#include <shmem.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_pes = 4, most_count = 5, widest_stride = 4, room = most_pes * most_count * widest_stride };

/* 16 bytes are enough for each type. */
static _Alignas(16) unsigned char target[room * 16], source[room * 16], before[room * 16];
static const struct {
    ptrdiff_t target, source;
} strides[] = {{1, 1}, {2, 1}, {1, 3}, {3, 2}, {4, 4}};
static const size_t counts[] = {0, 1, 2, most_count};
static int wrong;

static void fill(void) {
    for (size_t i = 0; i < sizeof source; i++) {
        source[i] = (unsigned char)(shmem_my_pe() * 83 + i * 7 + i / 256);
        target[i] = before[i] = (unsigned char)(i * 5 + 1);
    }
}

/* Whether PE `own` of `size` has what the one at each place holds for it, and nothing else has changed. Sources are as
 * fill() makes them; `first` and `stride` are the world's numbers of the members. */
static int is_right(int own, int size, int first, int stride, ptrdiff_t tst, ptrdiff_t sst, size_t count,
                    size_t bytes) {
    for (int pe = 0; pe < size; pe++)
        for (size_t k = 0; k < count; k++)
            for (size_t b = 0; b < bytes; b++) {
                const size_t from = ((size_t)own * count + k) * (size_t)sst * bytes + b;
                before[((size_t)pe * count + k) * (size_t)tst * bytes + b] = (unsigned char)((first + pe * stride) *
                                                                                                 83 +
                                                                                             from * 7 + from / 256);
            }
    return memcmp(target, before, sizeof target) == 0;
}

static void report(int holds, const char* name, ptrdiff_t tst, ptrdiff_t sst, size_t count) {
    if (holds) return;
    wrong = 1;
    printf("WRONG: PE %d: %s, strides %td and %td, %zu elements\n", shmem_my_pe(), name, tst, sst, count);
}

#define FOR_EACH_SHAPE(BODY)                                                                                           \
    for (size_t s = 0; s < sizeof strides / sizeof *strides; s++)                                                      \
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {                                                  \
            const ptrdiff_t tst = strides[s].target, sst = strides[s].source;                                          \
            const size_t count = counts[c];                                                                            \
            BODY                                                                                                       \
        }

#define ON_TEAM(NAME, CALL, BYTES)                                                                                     \
    FOR_EACH_SHAPE({                                                                                                   \
        fill();                                                                                                        \
        shmem_team_sync(team);                                                                                         \
        const int code = CALL;                                                                                         \
        shmem_team_sync(team);                                                                                         \
        report(code == 0 && is_right(own, size, first, stride, tst, sst, count, BYTES), NAME, tst, sst, count);        \
    })

#define OF_TYPE(NAME, TYPE)                                                                                            \
    ON_TEAM("shmem_" #NAME "_alltoalls",                                                                               \
            shmem_##NAME##_alltoalls(team, (TYPE*)target, (const TYPE*)source, tst, sst, count), sizeof(TYPE))

static void on_team(shmem_team_t team, int first, int stride) {
    const int own = shmem_team_my_pe(team), size = shmem_team_n_pes(team);
    OF_TYPE(float, float)
    OF_TYPE(double, double)
    OF_TYPE(longdouble, long double)
    OF_TYPE(char, char)
    OF_TYPE(schar, signed char)
    OF_TYPE(short, short)
    OF_TYPE(int, int)
    OF_TYPE(long, long)
    OF_TYPE(longlong, long long)
    OF_TYPE(uchar, unsigned char)
    OF_TYPE(ushort, unsigned short)
    OF_TYPE(uint, unsigned int)
    OF_TYPE(ulong, unsigned long)
    OF_TYPE(ulonglong, unsigned long long)
    OF_TYPE(int8, int8_t)
    OF_TYPE(int16, int16_t)
    OF_TYPE(int32, int32_t)
    OF_TYPE(int64, int64_t)
    OF_TYPE(uint8, uint8_t)
    OF_TYPE(uint16, uint16_t)
    OF_TYPE(uint32, uint32_t)
    OF_TYPE(uint64, uint64_t)
    OF_TYPE(size, size_t)
    OF_TYPE(ptrdiff, ptrdiff_t)
    ON_TEAM("shmem_alltoallsmem", shmem_alltoallsmem(team, target, source, tst, sst, count), 1)
    ON_TEAM("shmem_alltoalls", shmem_alltoalls(team, (int*)target, (const int*)source, tst, sst, count), sizeof(int))
}

static long sync_words[SHMEM_ALLTOALLS_SYNC_SIZE];
#define ON_SET(BITS)                                                                                                   \
    FOR_EACH_SHAPE({                                                                                                   \
        fill();                                                                                                        \
        shmem_barrier_all();                                                                                           \
        if (me % 2 == 0) shmem_alltoalls##BITS(target, source, tst, sst, count, 0, 1, (all + 1) / 2, sync_words);      \
        shmem_barrier_all();                                                                                           \
        report(me % 2 != 0 ? memcmp(target, before, sizeof target) == 0                                                \
                           : is_right(me / 2, (all + 1) / 2, 0, 2, tst, sst, count, (BITS) / 8),                       \
               "shmem_alltoalls" #BITS, tst, sst, count);                                                              \
    })

int main(void) {
    shmem_init();
    const int me = shmem_my_pe(), all = shmem_n_pes();
    for (int i = 0; i < SHMEM_ALLTOALLS_SYNC_SIZE; i++) sync_words[i] = SHMEM_SYNC_VALUE;
    on_team(SHMEM_TEAM_WORLD, 0, 1);
    shmem_team_t even = SHMEM_TEAM_INVALID;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, (all + 1) / 2, NULL, 0, &even);
    if (even != SHMEM_TEAM_INVALID) on_team(even, 0, 2);
    shmem_barrier_all();
    ON_SET(32)
    ON_SET(64)
    puts(wrong ? "WRONG" : "right");
    shmem_finalize();
    return 0;
}
