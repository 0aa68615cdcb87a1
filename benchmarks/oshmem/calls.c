/* SPDX-License-Identifier: Apache-2.0 */
/* Times of calls from PE 0 to PE 1 while the other PEs are in a barrier, and of barriers of all: medians and quartiles
 * in microseconds. OpenSHMEM 1.4, so that any library compiles it. Usage: calls [ROUNDS] */
#define _POSIX_C_SOURCE 200809L
#include "timing.h"

#include <shmem.h>
#ifdef WITH_MPI
#include <mpi.h>
#endif

#include <stdio.h>
#include <string.h>

enum { most_rounds = 99, large_bytes = 1 << 20, barriers = 200 };
static const double least_us = 20e3; /* of a round of calls */
static long *word, sum;
static char *area, *mine;

static void p(int pe) { shmem_long_p(word, 3, pe); }
static void put_8(int pe) { shmem_putmem(word, mine, 8, pe); }
static void get_8(int pe) { shmem_getmem(mine, word, 8, pe); }
static void g(int pe) { sum += shmem_long_g(word, pe); }
static void fetch_add(int pe) { sum += shmem_long_atomic_fetch_add(word, 1, pe); }
static void add(int pe) { shmem_long_atomic_add(word, 1, pe); }
static void compare_swap(int pe) { sum += shmem_long_atomic_compare_swap(word, 1, 2, pe); }
static void put_large(int pe) { shmem_putmem(area, mine, large_bytes, pe); }
static void get_large(int pe) { shmem_getmem(mine, area, large_bytes, pe); }

static const struct {
    const char* name;
    void (*call)(int pe);
    int batch; /* calls between two looks at the clock */
} calls[] = {{"p", p, 100},
             {"put 8", put_8, 100},
             {"get 8", get_8, 100},
             {"g", g, 100},
             {"fetch-add", fetch_add, 100},
             {"add", add, 100},
             {"cswap", compare_swap, 100},
             {"put 1 MiB", put_large, 4},
             {"get 1 MiB", get_large, 4}};

static void report(const char* name, double* us, int rounds) {
    const double median = quantile(us, rounds, 0.5);
    printf("%-12s %9.4f  (%.4f to %.4f)\n", name, median, us[rounds / 4], us[3 * rounds / 4]);
    fflush(stdout);
}

static double time_of(void (*call)(int pe), int batch) {
    long count = 0;
    const double start = now_us();
    do {
        for (int i = 0; i < batch; i++) call(1);
        count += batch;
    } while (now_us() - start < least_us);
    shmem_quiet();
    return (now_us() - start) / (double)count;
}

static void time_barriers(const char* name, void (*meet)(void), int rounds) {
    double us[most_rounds];
    for (int round = -1; round < rounds; round++) { /* the first does not count */
        shmem_barrier_all();
        const double start = now_us();
        for (int i = 0; i < barriers; i++) meet();
        if (round >= 0) us[round] = (now_us() - start) / barriers;
    }
    if (shmem_my_pe() == 0) report(name, us, rounds);
}

#ifdef WITH_MPI
static void mpi_barrier(void) { MPI_Barrier(MPI_COMM_WORLD); }
#endif

int main(int count, char** words) {
    const int asked = count > 1 ? atoi(words[1]) : 9, rounds = asked < 1             ? 1
                                                               : asked > most_rounds ? most_rounds
                                                                                     : asked;
#ifdef WITH_MPI
    MPI_Init(&count, &words);
#endif
    shmem_init();
    word = shmem_malloc(sizeof *word);
    area = shmem_malloc(large_bytes);
    mine = malloc(large_bytes);
    *word = 1;
    memset(area, 1, large_bytes);
    memset(mine, 2, large_bytes);
    shmem_barrier_all();
    if (shmem_my_pe() == 0 && shmem_n_pes() > 1)
        for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
            double us[most_rounds];
            (void)time_of(calls[i].call, calls[i].batch);
            for (int round = 0; round < rounds; round++) us[round] = time_of(calls[i].call, calls[i].batch);
            report(calls[i].name, us, rounds);
        }
    shmem_barrier_all();
    time_barriers("barrier", shmem_barrier_all, rounds);
#ifdef WITH_MPI
    time_barriers("MPI_Barrier", mpi_barrier, rounds);
#endif
    shmem_barrier_all();
    free(mine);
    shmem_finalize();
#ifdef WITH_MPI
    MPI_Finalize();
#endif
    return 0;
}
