/* SPDX-License-Identifier: Apache-2.0 */
/* The other PEs compute, or wait in MPI, and call nothing of OpenSHMEM: PE 0 reaches their memory all the same. */
#include <mpi.h>
#include <shmem.h>

#include <stdio.h>

enum { few = 10, many = 100000 };
static long numbers[many], back[many], word, lock, done;
static uint64_t signal_word;

/* Calls of PE 0 that need an answer of `pe`. */
static int reach(int pe, long first) {
    static long mine[many];
    int right = 1;
    for (int i = 0; i < many; i++) mine[i] = first + i;
    for (int count = few; count <= many; count *= many / few) {
        shmem_long_put(numbers, mine, (size_t)count, pe);
        shmem_quiet();
        shmem_long_get(back, numbers, (size_t)count, pe);
        for (int i = 0; i < count; i++) right = right && back[i] == first + i;
    }
    shmem_long_iput(numbers, mine, 2, 1, few, pe);
    right = right && shmem_long_g(&numbers[2 * (few - 1)], pe) == first + few - 1;
    const long before = shmem_long_atomic_fetch_add(&word, 5, pe);
    right = right && shmem_long_atomic_fetch(&word, pe) == before + 5;
    shmem_long_put_signal(numbers, mine, few, &signal_word, 1, SHMEM_SIGNAL_ADD, pe);
    shmem_quiet();
    shmem_set_lock(&lock);
    shmem_clear_lock(&lock);
    return right;
}

int main(int count, char** words) {
    MPI_Init(&count, &words);
    shmem_init();
    const int me = shmem_my_pe(), all = shmem_n_pes();
    int right = 1;
    shmem_barrier_all();
    if (me == 0) {
        for (int pe = 1; pe < all; pe++) {
            right = right && reach(pe, 100);
            shmem_long_p(&done, 1, pe);
        }
        for (int pe = 1; pe < all; pe++) {
            right = right && reach(pe, 200);
            MPI_Send(&right, 1, MPI_INT, pe, 0, MPI_COMM_WORLD);
        }
    } else {
        double sum = 0;
        for (long i = 1; __atomic_load_n(&done, __ATOMIC_ACQUIRE) == 0; i++) sum += 1.0 / (double)i;
        MPI_Recv(&right, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        right = right && sum >= 0 && word == 10 && signal_word == 2 && numbers[few - 1] == 200 + few - 1;
    }
    puts(right ? "right" : "WRONG");
    shmem_finalize();
    MPI_Finalize();
    return 0;
}
