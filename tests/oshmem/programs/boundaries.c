/* SPDX-License-Identifier: Apache-2.0 */
/* An exchange of zone boundaries as programs before OpenSHMEM 1.2 write it: old names, offsets told by an extra put to
 * a static variable, waits, and reductions on active sets. The calls of exchange() are those of "Hybrid Programming
 * Using OpenSHMEM and OpenACC" (2014), Listing 1.2, the allocation that of Listing 1.7. */
#include <mpp/shmem.h>
#include <stdio.h>
#include <stdlib.h>

enum { zone_words = 5000 };

#define PROC_MAX_SIZE5 (2 * zone_words)
typedef long idx_t;

static idx_t dest_qoffset = -1, qoffset;
static long done, x = 1;
static double *u, *qbc_in, *qbc_ou;
static long pSync[_SHMEM_REDUCE_SYNC_SIZE];
static double pWrk[_SHMEM_REDUCE_MIN_WRKDATA_SIZE];
static double residue, all_residues;
static int arrived;

/* Tells `ip` where this PE wants its data, learns where the PE that sends here wants it, and puts. */
static void exchange(int ip, int m_size) {
    shmem_putmem(&dest_qoffset, &qoffset, sizeof(idx_t), ip);
    shmem_fence();
    shmem_long_put(&done, &x, 1, ip);
    shmem_quiet();
    shmem_wait(&done, 0);
    shmem_double_put(&qbc_in[dest_qoffset], &qbc_ou[0], m_size, ip);
    shmem_quiet();
}

int main(void) {
    start_pes(0);
    const int me = _my_pe(), all = _num_pes();
    u = (double*)shmalloc(sizeof(double) * PROC_MAX_SIZE5);
    qbc_in = u;
    qbc_ou = malloc(sizeof *qbc_ou * zone_words);
    for (int i = 0; i < _SHMEM_REDUCE_SYNC_SIZE; i++) pSync[i] = _SHMEM_SYNC_VALUE;
    for (int i = 0; i < zone_words; i++) {
        qbc_ou[i] = me * 1000.0 + i;
        u[zone_words + i] = -1;
    }
    qoffset = zone_words;
    shmem_barrier_all();

    const int next = (me + 1) % all, before = (me + all - 1) % all;
    exchange(next, zone_words);
    shmem_int_inc(&arrived, next);
    shmem_int_wait(&arrived, 0);

    int right = 1;
    for (int i = 0; i < zone_words; i++) {
        right = right && u[zone_words + i] == before * 1000.0 + i;
        residue += u[zone_words + i];
    }
    shmem_double_sum_to_all(&all_residues, &residue, 1, 0, 0, all, pWrk, pSync);
    double expected = 0;
    for (int pe = 0; pe < all; pe++) expected += pe * 1000.0 * zone_words + zone_words * (zone_words - 1.0) / 2;
    right = right && all_residues == expected;
    /* Nor does a PE mind a call on a set that it is none of. */
    shmem_double_sum_to_all(&all_residues, &residue, 1, 0, 0, 1, pWrk, pSync);
    right = right && all_residues == (me == 0 ? residue : expected);
    /* Larger than what is free beside it, and too large. */
    const size_t mebibyte = 1 << 20;
    char* large = shmalloc(40 * mebibyte);
    large[0] = large[40 * mebibyte - 1] = (char)me;
    large = shrealloc(large, 50 * mebibyte);
    right = right && large != NULL && shrealloc(large, 80 * mebibyte) == NULL;
    right = right && large[0] == me && large[40 * mebibyte - 1] == me;
    puts(right ? "right" : "WRONG");
    free(qbc_ou);
    shfree(large);
    shfree(u);
    return 0; /* nobody calls shmem_finalize in such programs */
}
