/* SPDX-License-Identifier: Apache-2.0 */
/* Each kind of call with addresses of the device's heap, on either side, beside the host's. */
#include <shmemg.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { count = 1000 };

static int wrong;

static void expect(int holds, const char* what) {
    if (holds) return;
    wrong = 1;
    printf("WRONG: PE %d: %s\n", shmem_my_pe(), what);
}

/* Whether the long numbers at `source` of PE `pe`, from the host or the device, are first, first + 1, ... */
static int counts_from(long first, const long* source, int n, int pe) {
    long seen[count];
    shmem_long_get(seen, source, (size_t)n, pe);
    for (int i = 0; i < n; i++)
        if (seen[i] != first + i) return 0;
    return 1;
}

int main(void) {
    int provided = 0;
    if (shmem_init_thread(SHMEM_THREAD_SINGLE | SHMEM_DEVICE_HOST_INIT | SHMEM_DEVICE_KERNEL_INIT, &provided) != 0)
        return 1;
    const int me = shmem_my_pe(), all = shmem_n_pes(), next = (me + 1) % all, before = (me + all - 1) % all;
    expect((provided & SHMEM_DEVICE_HOST_INIT) != 0, "no device memory");
    expect((provided & SHMEM_DEVICE_KERNEL_INIT) == 0, "calls in kernels are promised");

    long* device = shmemg_malloc(count * sizeof *device);
    long* zeros = shmemg_calloc(count, sizeof *zeros);
    long* aligned = shmemg_align(1024, sizeof *aligned);
    long* host = shmem_malloc(count * sizeof *host);
    long private_memory[count];
    for (int i = 0; i < count; i++) private_memory[i] = host[i] = me * 10000 + i;
    expect(device != NULL && zeros != NULL && aligned != NULL && (size_t)aligned % 1024 == 0, "allocation");
    expect(shmem_addr_accessible(device, next) && !shmem_addr_accessible(device, all), "shmem_addr_accessible");
    long zero[count];
    memset(zero, 0, sizeof zero);
    shmem_long_get(private_memory, zeros, count, next);
    expect(memcmp(private_memory, zero, sizeof zero) == 0, "shmemg_calloc");
    for (int i = 0; i < count; i++) private_memory[i] = me * 10000 + i;
    shmem_barrier_all();

    /* host to device, device to device, device to host */
    shmem_long_put(device, private_memory, count, next);
    shmem_barrier_all();
    expect(counts_from(before * 10000, device, count, me), "put from the host");
    shmem_long_put(zeros, device, count, next);
    shmem_barrier_all();
    expect(counts_from((before + all - 1) % all * 10000, zeros, count, me), "put from the device");
    shmem_long_put(host, device, count, next);
    shmem_barrier_all();
    expect(counts_from((before + all - 1) % all * 10000, host, count, me), "put from the device to the host");
    shmem_barrier_all();
    shmem_long_get(zeros, host, count, next);
    expect(counts_from((next + 2 * all - 2) % all * 10000, zeros, count, me), "get from the host to the device");
    shmem_barrier_all();
    shmem_long_get(zeros, device, count, next);
    expect(counts_from(me * 10000, zeros, count, me), "get from the device to the device");
    shmem_barrier_all();

    /* strides and single values */
    shmem_long_iput(device, private_memory, 2, 1, count / 2, next);
    shmem_barrier_all();
    long every_other[count / 2];
    shmem_long_iget(every_other, device, 1, 2, count / 2, me);
    for (int i = 0; i < count / 2; i++) expect(every_other[i] == before * 10000 + i, "strides");
    shmem_barrier_all();
    shmem_long_p(device + 3, 77 + me, next);
    shmem_barrier_all();
    expect(shmem_long_g(device + 3, me) == 77 + before, "one value");
    shmem_barrier_all();

    /* a put with signal, waits and atomics */
    uint64_t* signal = shmemg_calloc(2, sizeof *signal);
    int* word = shmemg_calloc(4, sizeof *word);
    short* small = shmemg_calloc(1, sizeof *small);
    float* real = shmemg_calloc(1, sizeof *real);
    shmem_long_put_signal(device, private_memory, count, signal, 5, SHMEM_SIGNAL_SET, next);
    expect(shmem_signal_wait_until(signal, SHMEM_CMP_EQ, 5) == 5, "shmem_signal_wait_until");
    expect(counts_from(before * 10000, device, count, me), "put with signal");
    shmem_short_p(small, 9, next);
    shmem_short_wait_until(small, SHMEM_CMP_EQ, 9);
    for (int i = 0; i < 10; i++) shmem_int_atomic_add(word, 1 + i, 0);
    expect(shmem_int_atomic_compare_swap(word + 1, 0, 1 + me, me) == 0, "compare and swap");
    expect(shmem_int_atomic_swap(word + 1, 8, me) == 1 + me, "swap");
    expect(shmem_int_atomic_fetch_or(word + 1, 3, me) == 8 && shmem_int_atomic_fetch(word + 1, me) == 11, "or");
    expect(shmem_int_atomic_fetch_and(word + 1, 6, me) == 11 && shmem_int_atomic_fetch_xor(word + 1, 1, me) == 2,
           "and");
    expect(shmem_int_atomic_fetch_inc(word + 1, me) == 3, "increment");
    shmem_float_atomic_set(real, 2.5f, me);
    expect(shmem_float_atomic_swap(real, 1.5f, me) == 2.5f && shmem_float_atomic_fetch(real, me) == 1.5f, "floats");
    shmem_barrier_all();
    expect(shmem_int_atomic_fetch(word, 0) == 55 * all, "sum of all PEs' additions");
    shmem_barrier_all();
    shmem_int_p(word + 2 + me % 2, 4, me);
    expect(shmem_int_wait_until_any(word + 2, 2, NULL, SHMEM_CMP_EQ, 4) == (size_t)(me % 2), "wait for any");

    /* collectives, from the device to the device and between device and host */
    shmem_long_put(device, private_memory, count, me);
    long* sums = shmemg_malloc(count * sizeof *sums);
    shmem_barrier_all();
    shmem_long_sum_reduce(SHMEM_DEVICE_TEAM_WORLD, sums, device, count);
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, host, device, count);
    long numbered = 0;
    for (int pe = 0; pe < all; pe++) numbered += pe * 10000;
    int agrees = 1;
    for (int i = 0; i < count; i++)
        agrees = agrees && shmem_long_g(sums + i, me) == numbered + (long)i * all &&
                 host[i] == numbered + (long)i * all;
    expect(agrees, "sum");
    shmem_barrier_all();
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, sums, sums, count);
    expect(shmem_long_g(sums + 1, me) == (numbered + all) * all, "sum in place");
    shmem_long_broadcast(SHMEM_TEAM_WORLD, zeros, device, count, all - 1);
    expect(counts_from((all - 1) * 10000, zeros, count, me), "broadcast");
    const int part = count / all;
    shmem_long_fcollect(SHMEM_TEAM_WORLD, zeros, device, (size_t)part);
    for (int pe = 0; pe < all; pe++) expect(counts_from(pe * 10000, zeros + (long)pe * part, part, me), "fcollect");
    shmem_long_collect(SHMEM_TEAM_WORLD, host, device, (size_t)(me + 1));
    for (int pe = 0, at = 0; pe < all; at += ++pe) expect(counts_from(pe * 10000, host + at, pe + 1, me), "collect");
    shmem_long_alltoall(SHMEM_TEAM_WORLD, zeros, device, (size_t)part);
    for (int pe = 0; pe < all; pe++)
        expect(counts_from(pe * 10000 + (long)me * part, zeros + (long)pe * part, part, me), "all to all");
    shmem_barrier_all();

    /* a lock */
    long* lock = shmemg_calloc(1, sizeof *lock);
    if (me == 0) shmem_long_p(aligned, 0, 0);
    shmem_barrier_all();
    for (int i = 0; i < 20; i++) {
        shmem_set_lock(lock);
        shmem_long_p(aligned, shmem_long_g(aligned, 0) + 1, 0);
        shmem_clear_lock(lock);
    }
    shmem_barrier_all();
    expect(shmem_long_g(aligned, 0) == 20L * all, "a lock");
    shmem_barrier_all();
    if (shmem_ptr(device, next) != NULL) expect(((long*)shmem_ptr(device, me)) == device, "shmem_ptr");

    shmemg_free(lock);
    shmemg_free(device);
    expect(!shmem_addr_accessible((char*)host + (size_t)1e12, me), "an address far away");
    device = shmemg_malloc(count * sizeof *device);
    expect(device != NULL, "allocation again");
    printf("%s: PE %d\n", wrong ? "WRONG" : "right", me);
    shmem_finalize();
    return wrong;
}
