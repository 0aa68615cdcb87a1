// SPDX-License-Identifier: Apache-2.0
// Arrays as causeway_malloc() gives them are padded: loops that walk them from their beginning, compiled with
// -causeway-simd-padded, write behind their ends, and into no other allocation. usage: allocations [standard], whose
// memory is that of malloc()
#include <causeway/tasks.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { page = 4096, most = 3 * page, guarded = 64, pattern = 0x5a };

#define LOOP(name, T, U, ...)                                                                                          \
    __attribute__((noinline)) static void name(void* to, const void* from, long n) {                                   \
        T* restrict c = to;                                                                                            \
        const U* a = from;                                                                                             \
        for (long i = 0; i < n; ++i) __VA_ARGS__;                                                                      \
    }
LOOP(floats, float, float, c[i] += 3 * a[i])
LOOP(doubles, double, double, c[i] = 3 * a[i])
LOOP(chosen, int, int, if (a[i] > 2) c[i] = a[i])
LOOP(mixed, double, float, c[i] += a[i])

static const struct {
    const char* name;
    void (*run)(void*, const void*, long);
    size_t stored, loaded;
} loops[] = {{"floats", floats, sizeof(float), sizeof(float)},
             {"doubles", doubles, sizeof(double), sizeof(double)},
             {"chosen", chosen, sizeof(int), sizeof(int)},
             {"mixed", mixed, sizeof(double), sizeof(float)}};

static size_t rounded_up(size_t bytes) { return (bytes + page - 1) / page * page; }

/// Arrays of `n` elements whose last bytes are near the end of a page, and a neighbour. Returns false if that changed.
static int leaves_neighbour(int which, long n, causeway_distribution how, int* beside, int* into_padding) {
    const size_t stored = loops[which].stored * (size_t)n, loaded = loops[which].loaded * (size_t)n;
    unsigned char *c = causeway_malloc(stored, how), *next = causeway_malloc(guarded, how),
                  *a = causeway_malloc(loaded, how);
    if (!c || !next || !a) {
        printf("no memory: %s\n", causeway_tasks_last_error());
        exit(1);
    }
    const int distributed = how != CAUSEWAY_DISTRIBUTION_STANDARD;
    const size_t room = distributed ? rounded_up(stored) : stored;
    memset(c, 0, room);
    memset(a, 3, distributed ? rounded_up(loaded) : loaded);
    memset(next, pattern, guarded);
    loops[which].run(c, a, n);
    *beside += next == c + rounded_up(stored);
    for (size_t i = stored; i < room; ++i)
        if (c[i]) {
            ++*into_padding;
            break;
        }
    int is_left = 1;
    for (int i = 0; i < guarded; ++i) is_left &= next[i] == pattern;
    causeway_free(a);
    causeway_free(next);
    causeway_free(c);
    return is_left;
}

int main(int argc, char** argv) {
    (void)argv;
    const causeway_distribution all[] = {CAUSEWAY_DISTRIBUTION_FINE, CAUSEWAY_DISTRIBUTION_COARSE,
                                         CAUSEWAY_DISTRIBUTION_LOCAL, CAUSEWAY_DISTRIBUTION_STANDARD};
    const int first = argc > 1 ? 3 : 0, last = argc > 1 ? 4 : 3;
    int failures = 0;
    for (int how = first; how < last; ++how)
        for (int which = 0; which < (int)(sizeof loops / sizeof *loops); ++which) {
            int beside = 0, into_padding = 0, touched = 0;
            // From two vectors before the end of a page to one behind.
            for (size_t end = page; end <= most; end += page)
                for (size_t bytes = end - 128; bytes <= end + 64; bytes += loops[which].stored)
                    touched += !leaves_neighbour(which, (long)(bytes / loops[which].stored), all[how], &beside,
                                                 &into_padding);
            printf(
                "distribution %d, %s: %d lengths beside a neighbour, %d written into padding, %d into the neighbour\n",
                all[how], loops[which].name, beside, into_padding, touched);
            failures += touched > 0 || beside == 0 || into_padding == 0;
        }
    return failures != 0;
}
