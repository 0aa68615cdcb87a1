/* SPDX-License-Identifier: Apache-2.0 */
/* All PEs but PE 0 put numbers of 8 bytes to it for a while, each into words of its own, which are compared at the end.
 * Usage: sustained_puts [SECONDS] */
#define _POSIX_C_SOURCE 200809L
#include "timing.h"

#include <shmem.h>

#include <stdio.h>
#include <string.h>

enum { words_of_pe = 4096, batch = 10000 };
static long put_count;

/* What the word `index` has after `count` puts of 0, 1, 2, ... in turn. */
static long last_put(long index, long count) {
    return count <= index ? 0 : (count - 1 - index) / words_of_pe * words_of_pe + index;
}

int main(int count, char** arguments) {
    const double seconds = count > 1 ? atof(arguments[1]) : 60;
    shmem_init();
    const int me = shmem_my_pe(), all = shmem_n_pes();
    long* const words = shmem_malloc((size_t)all * words_of_pe * sizeof *words);
    memset(words, 0, (size_t)all * words_of_pe * sizeof *words);
    shmem_barrier_all();
    const double start = now_us();
    double end = start;
    long done = 0;
    while (me != 0 && end < start + seconds * 1e6) {
        for (int i = 0; i < batch; i++, done++) shmem_put64(words + me * words_of_pe + done % words_of_pe, &done, 1, 0);
        end = now_us();
    }
    shmem_quiet();
    end = now_us();
    put_count = done;
    if (me != 0)
        printf("PE %d: %.3g puts a second for %.1f s\n", me, (double)done / (end - start) * 1e6, (end - start) / 1e6);
    fflush(stdout);
    shmem_barrier_all();
    long wrong = 0;
    for (int pe = 1; me == 0 && pe < all; pe++) {
        const long there = shmem_long_g(&put_count, pe);
        for (long i = 0; i < words_of_pe; i++) wrong += words[pe * words_of_pe + i] != last_put(i, there);
    }
    if (me == 0) printf("%d words compared, %ld differ\n", (all - 1) * words_of_pe, wrong);
    shmem_barrier_all();
    shmem_finalize();
    return wrong != 0;
}
