/* SPDX-License-Identifier: Apache-2.0 */
/* Every name of OpenSHMEM 1.5 for C, and those of earlier versions, by the specification's own tables of types. */
#include <shmem.h>

#include <complex.h>
#include <stdio.h>

typedef void (*any_function)(void);
static volatile any_function last;
static int names;

static void take(any_function one) {
    last = one;
    names++;
}
#define TAKE(NAME) take((any_function)(NAME));

#define ORDERED(X) X(char) X(schar) X(short) X(int) X(long) X(longlong) X(ptrdiff)
#define UNSIGNED(X) X(uchar) X(ushort) X(uint) X(ulong) X(ulonglong)
#define FIXED(X) X(int8) X(int16) X(int32) X(int64) X(uint8) X(uint16) X(uint32) X(uint64) X(size)
#define REALS(X) X(float) X(double) X(longdouble)
#define STANDARD(X) ORDERED(X) UNSIGNED(X) FIXED(X) REALS(X)
#define ATOMIC(X)                                                                                                      \
    X(int) X(long) X(longlong) X(uint) X(ulong) X(ulonglong) X(int32) X(int64) X(uint32) X(uint64) X(size) X(ptrdiff)
#define BITWISE(X) X(uint) X(ulong) X(ulonglong) X(int32) X(int64) X(uint32) X(uint64)
#define OLD_ATOMIC(X) X(int) X(long) X(longlong)
#define OLD_REDUCED(X) X(short) X(int) X(long) X(longlong)

#define BOTH(NAME) TAKE(shmem_##NAME) TAKE(shmem_ctx_##NAME)
#define RMA(T)                                                                                                         \
    BOTH(T##_put)                                                                                                      \
    BOTH(T##_p)                                                                                                        \
    BOTH(T##_iput)                                                                                                     \
    BOTH(T##_get)                                                                                                      \
    BOTH(T##_g)                                                                                                        \
    BOTH(T##_iget)                                                                                                     \
    BOTH(T##_put_nbi)                                                                                                  \
    BOTH(T##_get_nbi)                                                                                                  \
    BOTH(T##_put_signal)                                                                                               \
    BOTH(T##_put_signal_nbi)                                                                                           \
    TAKE(shmem_##T##_broadcast)                                                                                        \
    TAKE(shmem_##T##_collect) TAKE(shmem_##T##_fcollect) TAKE(shmem_##T##_alltoall) TAKE(shmem_##T##_alltoalls)
#define SIZED(N)                                                                                                       \
    BOTH(put##N) BOTH(get##N) BOTH(put##N##_nbi) BOTH(get##N##_nbi) BOTH(put##N##_signal) BOTH(put##N##_signal_nbi)
#define STRIDED(N) SIZED(N) BOTH(iput##N) BOTH(iget##N)
#define AMO(T)                                                                                                         \
    BOTH(T##_atomic_compare_swap)                                                                                      \
    BOTH(T##_atomic_fetch_inc)                                                                                         \
    BOTH(T##_atomic_inc)                                                                                               \
    BOTH(T##_atomic_fetch_add)                                                                                         \
    BOTH(T##_atomic_add) BOTH(T##_atomic_compare_swap_nbi) BOTH(T##_atomic_fetch_inc_nbi) BOTH(T##_atomic_fetch_add_nbi)
#define AMO_EXTENDED(T)                                                                                                \
    BOTH(T##_atomic_fetch)                                                                                             \
    BOTH(T##_atomic_set) BOTH(T##_atomic_swap) BOTH(T##_atomic_fetch_nbi) BOTH(T##_atomic_swap_nbi)
#define AMO_BITS(T)                                                                                                    \
    BOTH(T##_atomic_and)                                                                                               \
    BOTH(T##_atomic_or)                                                                                                \
    BOTH(T##_atomic_xor)                                                                                               \
    BOTH(T##_atomic_fetch_and)                                                                                         \
    BOTH(T##_atomic_fetch_or)                                                                                          \
    BOTH(T##_atomic_fetch_xor)                                                                                         \
    BOTH(T##_atomic_fetch_and_nbi) BOTH(T##_atomic_fetch_or_nbi) BOTH(T##_atomic_fetch_xor_nbi)
#define WAITS(T)                                                                                                       \
    TAKE(shmem_##T##_wait_until)                                                                                       \
    TAKE(shmem_##T##_wait_until_all)                                                                                   \
    TAKE(shmem_##T##_wait_until_any)                                                                                   \
    TAKE(shmem_##T##_wait_until_some)                                                                                  \
    TAKE(shmem_##T##_wait_until_all_vector)                                                                            \
    TAKE(shmem_##T##_wait_until_any_vector)                                                                            \
    TAKE(shmem_##T##_wait_until_some_vector)                                                                           \
    TAKE(shmem_##T##_test)                                                                                             \
    TAKE(shmem_##T##_test_all)                                                                                         \
    TAKE(shmem_##T##_test_any)                                                                                         \
    TAKE(shmem_##T##_test_some)                                                                                        \
    TAKE(shmem_##T##_test_all_vector) TAKE(shmem_##T##_test_any_vector) TAKE(shmem_##T##_test_some_vector)
#define REDUCE_BITS(T) TAKE(shmem_##T##_and_reduce) TAKE(shmem_##T##_or_reduce) TAKE(shmem_##T##_xor_reduce)
#define REDUCE_ORDER(T) TAKE(shmem_##T##_max_reduce) TAKE(shmem_##T##_min_reduce)
#define REDUCE_SUMS(T) TAKE(shmem_##T##_sum_reduce) TAKE(shmem_##T##_prod_reduce)
#define TO_ALL_BITS(T) TAKE(shmem_##T##_and_to_all) TAKE(shmem_##T##_or_to_all) TAKE(shmem_##T##_xor_to_all)
#define TO_ALL_ORDER(T) TAKE(shmem_##T##_max_to_all) TAKE(shmem_##T##_min_to_all)
#define TO_ALL_SUMS(T) TAKE(shmem_##T##_sum_to_all) TAKE(shmem_##T##_prod_to_all)
#define OLD_SWAPS(T) TAKE(shmem_##T##_swap) TAKE(shmem_##T##_fetch) TAKE(shmem_##T##_set)
#define OLD_AMO(T)                                                                                                     \
    TAKE(shmem_##T##_cswap) TAKE(shmem_##T##_finc) TAKE(shmem_##T##_inc) TAKE(shmem_##T##_fadd) TAKE(shmem_##T##_add)
#define OLD_WAIT(T) TAKE(shmem_##T##_wait)

/* clang-format off */
static void take_all(void) {
    TAKE(shmem_init) TAKE(shmem_my_pe) TAKE(shmem_n_pes) TAKE(shmem_finalize) TAKE(shmem_global_exit)
    TAKE(shmem_pe_accessible) TAKE(shmem_addr_accessible) TAKE(shmem_ptr) TAKE(shmem_info_get_version)
    TAKE(shmem_info_get_name) TAKE(shmem_init_thread) TAKE(shmem_query_thread) TAKE(shmem_malloc) TAKE(shmem_free)
    TAKE(shmem_realloc) TAKE(shmem_align) TAKE(shmem_malloc_with_hints) TAKE(shmem_calloc) TAKE(shmem_pcontrol)
    TAKE(shmem_team_my_pe) TAKE(shmem_team_n_pes) TAKE(shmem_team_get_config) TAKE(shmem_team_translate_pe)
    TAKE(shmem_team_split_strided) TAKE(shmem_team_split_2d) TAKE(shmem_team_destroy) TAKE(shmem_ctx_create)
    TAKE(shmem_team_create_ctx) TAKE(shmem_ctx_destroy) TAKE(shmem_ctx_get_team) TAKE(shmem_signal_fetch)
    TAKE(shmem_signal_wait_until) TAKE(shmem_barrier_all) TAKE(shmem_barrier) TAKE(shmem_sync) TAKE(shmem_sync_all)
    TAKE(shmem_team_sync) BOTH(fence) BOTH(quiet) TAKE(shmem_set_lock) TAKE(shmem_clear_lock) TAKE(shmem_test_lock)
    STANDARD(RMA) STRIDED(8) STRIDED(16) STRIDED(32) STRIDED(64) STRIDED(128) SIZED(mem) TAKE(shmem_broadcastmem)
    TAKE(shmem_collectmem) TAKE(shmem_fcollectmem) TAKE(shmem_alltoallmem) TAKE(shmem_alltoallsmem) ATOMIC(AMO)
    ATOMIC(AMO_EXTENDED) AMO_EXTENDED(float) AMO_EXTENDED(double) BITWISE(AMO_BITS) ATOMIC(WAITS) WAITS(short)
    WAITS(ushort) UNSIGNED(REDUCE_BITS) FIXED(REDUCE_BITS) STANDARD(REDUCE_ORDER) STANDARD(REDUCE_SUMS)
    REDUCE_SUMS(complexf) REDUCE_SUMS(complexd)
    /* Of version 1.5, and no more advised. */
    TAKE(shmem_broadcast32) TAKE(shmem_broadcast64) TAKE(shmem_collect32) TAKE(shmem_collect64) TAKE(shmem_fcollect32)
    TAKE(shmem_fcollect64) TAKE(shmem_alltoall32) TAKE(shmem_alltoall64) TAKE(shmem_alltoalls32)
    TAKE(shmem_alltoalls64) OLD_REDUCED(TO_ALL_BITS) OLD_REDUCED(TO_ALL_ORDER) REALS(TO_ALL_ORDER)
    OLD_REDUCED(TO_ALL_SUMS) REALS(TO_ALL_SUMS) TO_ALL_SUMS(complexf) TO_ALL_SUMS(complexd)
    /* Of versions 1.0 to 1.3. */
    TAKE(start_pes) TAKE(_my_pe) TAKE(_num_pes) TAKE(my_pe) TAKE(num_pes) TAKE(shmalloc) TAKE(shfree) TAKE(shrealloc)
    TAKE(shmemalign) TAKE(shmem_clear_cache_inv) TAKE(shmem_set_cache_inv) TAKE(shmem_clear_cache_line_inv)
    TAKE(shmem_set_cache_line_inv) TAKE(shmem_udcflush) TAKE(shmem_udcflush_line) OLD_ATOMIC(OLD_SWAPS)
    OLD_SWAPS(float) OLD_SWAPS(double) OLD_ATOMIC(OLD_AMO) TAKE(shmem_swap) TAKE(shmem_wait) TAKE(shmem_wait_until)
    OLD_REDUCED(OLD_WAIT)
}
/* clang-format on */

/* The constants, each of the kind that the specification says. */
static const long constants[] = {SHMEM_MAJOR_VERSION,
                                 SHMEM_MINOR_VERSION,
                                 SHMEM_MAX_NAME_LEN,
                                 SHMEM_THREAD_SINGLE,
                                 SHMEM_THREAD_FUNNELED,
                                 SHMEM_THREAD_SERIALIZED,
                                 SHMEM_THREAD_MULTIPLE,
                                 SHMEM_TEAM_NUM_CONTEXTS,
                                 SHMEM_CTX_SERIALIZED,
                                 SHMEM_CTX_PRIVATE,
                                 SHMEM_CTX_NOSTORE,
                                 SHMEM_SIGNAL_SET,
                                 SHMEM_SIGNAL_ADD,
                                 SHMEM_MALLOC_ATOMICS_REMOTE,
                                 SHMEM_MALLOC_SIGNAL_REMOTE,
                                 SHMEM_SYNC_VALUE,
                                 SHMEM_SYNC_SIZE,
                                 SHMEM_BCAST_SYNC_SIZE,
                                 SHMEM_REDUCE_SYNC_SIZE,
                                 SHMEM_BARRIER_SYNC_SIZE,
                                 SHMEM_COLLECT_SYNC_SIZE,
                                 SHMEM_ALLTOALL_SYNC_SIZE,
                                 SHMEM_ALLTOALLS_SYNC_SIZE,
                                 SHMEM_REDUCE_MIN_WRKDATA_SIZE,
                                 SHMEM_CMP_EQ,
                                 SHMEM_CMP_NE,
                                 SHMEM_CMP_GT,
                                 SHMEM_CMP_GE,
                                 SHMEM_CMP_LT,
                                 SHMEM_CMP_LE,
                                 _SHMEM_MAJOR_VERSION,
                                 _SHMEM_MINOR_VERSION,
                                 _SHMEM_MAX_NAME_LEN,
                                 _SHMEM_SYNC_VALUE,
                                 _SHMEM_SYNC_SIZE,
                                 _SHMEM_BCAST_SYNC_SIZE,
                                 _SHMEM_REDUCE_SYNC_SIZE,
                                 _SHMEM_BARRIER_SYNC_SIZE,
                                 _SHMEM_COLLECT_SYNC_SIZE,
                                 _SHMEM_ALLTOALL_SYNC_SIZE,
                                 _SHMEM_ALLTOALLS_SYNC_SIZE,
                                 _SHMEM_REDUCE_MIN_WRKDATA_SIZE,
                                 _SHMEM_CMP_EQ,
                                 _SHMEM_CMP_NE,
                                 _SHMEM_CMP_GT,
                                 _SHMEM_CMP_GE,
                                 _SHMEM_CMP_LT,
                                 _SHMEM_CMP_LE};
static const char* const texts[] = {SHMEM_VENDOR_STRING, _SHMEM_VENDOR_STRING};

#if !defined(NAMES_ONLY)
static uint64_t signals;
static size_t found[1];

/* The generic names with each C type, called on the own PE, where each ends at once. */
#define WITH_TYPE(NAME, TYPE)                                                                                          \
    static int rma_##NAME(shmem_ctx_t ctx, int me) {                                                                   \
        static TYPE to[1], from[1] = {1};                                                                              \
        const TYPE* const read = from;                                                                                 \
        shmem_put(to, read, 1, me), shmem_put(ctx, to, read, 1, me);                                                   \
        shmem_get(to, read, 1, me), shmem_get(ctx, to, read, 1, me);                                                   \
        shmem_put_nbi(to, read, 1, me), shmem_put_nbi(ctx, to, read, 1, me);                                           \
        shmem_get_nbi(to, read, 1, me), shmem_get_nbi(ctx, to, read, 1, me);                                           \
        shmem_iput(to, read, 1, 1, 1, me), shmem_iput(ctx, to, read, 1, 1, 1, me);                                     \
        shmem_iget(to, read, 1, 1, 1, me), shmem_iget(ctx, to, read, 1, 1, 1, me);                                     \
        shmem_p(to, (TYPE)2, me), shmem_p(ctx, to, (TYPE)2, me);                                                       \
        shmem_put_signal(from, to, 1, &signals, 1, SHMEM_SIGNAL_SET, me);                                              \
        shmem_put_signal(ctx, from, to, 1, &signals, 1, SHMEM_SIGNAL_SET, me);                                         \
        shmem_put_signal_nbi(from, to, 1, &signals, 1, SHMEM_SIGNAL_SET, me);                                          \
        shmem_put_signal_nbi(ctx, from, to, 1, &signals, 1, SHMEM_SIGNAL_SET, me);                                     \
        return shmem_g(read, me) == (TYPE)2 && shmem_g(ctx, to, me) == (TYPE)2;                                        \
    }
#define COLLECTIVES_OF(NAME, TYPE)                                                                                     \
    static int collectives_##NAME(int pes) {                                                                           \
        static TYPE to[64], from[64];                                                                                  \
        const TYPE* const read = from;                                                                                 \
        shmem_team_t team = SHMEM_TEAM_WORLD;                                                                          \
        int bad = shmem_broadcast(team, to, read, 1, 0);                                                               \
        bad += shmem_collect(team, to, read, 1) + shmem_fcollect(team, to, read, 1);                                   \
        bad += shmem_alltoall(team, to, read, 1) + shmem_alltoalls(team, to, read, 1, 1, 1);                           \
        bad += shmem_max_reduce(team, to, read, 1) + shmem_min_reduce(team, to, read, 1);                              \
        bad += shmem_sum_reduce(team, to, read, 1) + shmem_prod_reduce(team, to, read, 1);                             \
        return bad == 0 && pes > 0;                                                                                    \
    }
#define BITS_OF(NAME, TYPE)                                                                                            \
    static int bits_##NAME(void) {                                                                                     \
        static TYPE to[1], from[1];                                                                                    \
        shmem_team_t team = SHMEM_TEAM_WORLD;                                                                          \
        return shmem_and_reduce(team, to, from, 1) + shmem_or_reduce(team, to, from, 1) +                              \
                   shmem_xor_reduce(team, to, from, 1) ==                                                              \
               0;                                                                                                      \
    }
#define ATOMICS_OF(NAME, TYPE)                                                                                         \
    static int atomics_##NAME(shmem_ctx_t ctx, int me) {                                                               \
        static TYPE word, before;                                                                                      \
        shmem_atomic_inc(&word, me), shmem_atomic_inc(ctx, &word, me);                                                 \
        shmem_atomic_add(&word, (TYPE)1, me), shmem_atomic_add(ctx, &word, (TYPE)1, me);                               \
        (void)shmem_atomic_fetch_inc(&word, me), (void)shmem_atomic_fetch_inc(ctx, &word, me);                         \
        (void)shmem_atomic_fetch_add(&word, (TYPE)1, me), (void)shmem_atomic_fetch_add(ctx, &word, (TYPE)1, me);       \
        shmem_atomic_fetch_inc_nbi(&before, &word, me), shmem_atomic_fetch_inc_nbi(ctx, &before, &word, me);           \
        shmem_atomic_fetch_add_nbi(&before, &word, (TYPE)1, me);                                                       \
        shmem_atomic_fetch_add_nbi(ctx, &before, &word, (TYPE)1, me);                                                  \
        (void)shmem_atomic_compare_swap(&word, (TYPE)12, (TYPE)13, me);                                                \
        (void)shmem_atomic_compare_swap(ctx, &word, (TYPE)13, (TYPE)14, me);                                           \
        shmem_atomic_compare_swap_nbi(&before, &word, (TYPE)14, (TYPE)15, me);                                         \
        shmem_atomic_compare_swap_nbi(ctx, &before, &word, (TYPE)15, (TYPE)16, me);                                    \
        return word == (TYPE)16;                                                                                       \
    }
#define SWAPS_OF(NAME, TYPE)                                                                                           \
    static int swaps_##NAME(shmem_ctx_t ctx, int me) {                                                                 \
        static TYPE word, before;                                                                                      \
        const TYPE* const read = &word;                                                                                \
        shmem_atomic_set(&word, (TYPE)1, me), shmem_atomic_set(ctx, &word, (TYPE)1, me);                               \
        (void)shmem_atomic_swap(&word, (TYPE)2, me), (void)shmem_atomic_swap(ctx, &word, (TYPE)3, me);                 \
        shmem_atomic_swap_nbi(&before, &word, (TYPE)4, me), shmem_atomic_swap_nbi(ctx, &before, &word, (TYPE)5, me);   \
        shmem_atomic_fetch_nbi(&before, read, me), shmem_atomic_fetch_nbi(ctx, &before, read, me);                     \
        return shmem_atomic_fetch(read, me) == (TYPE)5 && shmem_atomic_fetch(ctx, &word, me) == before;                \
    }
#define BIT_ATOMICS_OF(NAME, TYPE)                                                                                     \
    static int bit_atomics_##NAME(shmem_ctx_t ctx, int me) {                                                           \
        static TYPE word, before;                                                                                      \
        shmem_atomic_or(&word, (TYPE)3, me), shmem_atomic_or(ctx, &word, (TYPE)3, me);                                 \
        shmem_atomic_and(&word, (TYPE)1, me), shmem_atomic_and(ctx, &word, (TYPE)1, me);                               \
        shmem_atomic_xor(&word, (TYPE)1, me), shmem_atomic_xor(ctx, &word, (TYPE)1, me);                               \
        (void)shmem_atomic_fetch_or(&word, (TYPE)3, me), (void)shmem_atomic_fetch_or(ctx, &word, (TYPE)3, me);         \
        (void)shmem_atomic_fetch_and(&word, (TYPE)1, me), (void)shmem_atomic_fetch_and(ctx, &word, (TYPE)1, me);       \
        (void)shmem_atomic_fetch_xor(&word, (TYPE)1, me), (void)shmem_atomic_fetch_xor(ctx, &word, (TYPE)1, me);       \
        shmem_atomic_fetch_or_nbi(&before, &word, (TYPE)3, me);                                                        \
        shmem_atomic_fetch_or_nbi(ctx, &before, &word, (TYPE)3, me);                                                   \
        shmem_atomic_fetch_and_nbi(&before, &word, (TYPE)1, me);                                                       \
        shmem_atomic_fetch_and_nbi(ctx, &before, &word, (TYPE)1, me);                                                  \
        shmem_atomic_fetch_xor_nbi(&before, &word, (TYPE)1, me);                                                       \
        shmem_atomic_fetch_xor_nbi(ctx, &before, &word, (TYPE)1, me);                                                  \
        return word == (TYPE)1 && before == (TYPE)0;                                                                   \
    }
#define WAITS_OF(NAME, TYPE)                                                                                           \
    static int waits_##NAME(void) {                                                                                    \
        static TYPE words[1] = {1}, values[1] = {1};                                                                   \
        static volatile TYPE changing = 1; /* as version 1.3 had them */                                               \
        shmem_wait_until(words, SHMEM_CMP_EQ, (TYPE)1);                                                                \
        shmem_wait_until(&changing, SHMEM_CMP_EQ, (TYPE)1);                                                            \
        shmem_wait_until_all(words, 1, NULL, SHMEM_CMP_EQ, (TYPE)1);                                                   \
        shmem_wait_until_all_vector(words, 1, NULL, SHMEM_CMP_EQ, values);                                             \
        size_t sum = shmem_wait_until_any(words, 1, NULL, SHMEM_CMP_EQ, (TYPE)1) +                                     \
                     shmem_wait_until_any_vector(words, 1, NULL, SHMEM_CMP_EQ, values);                                \
        sum += shmem_wait_until_some(words, 1, found, NULL, SHMEM_CMP_EQ, (TYPE)1) +                                   \
               shmem_wait_until_some_vector(words, 1, found, NULL, SHMEM_CMP_EQ, values);                              \
        sum += (size_t)shmem_test(words, SHMEM_CMP_EQ, (TYPE)1) +                                                      \
               (size_t)shmem_test_all(words, 1, NULL, SHMEM_CMP_EQ, (TYPE)1) +                                         \
               (size_t)shmem_test_all_vector(words, 1, NULL, SHMEM_CMP_EQ, values);                                    \
        sum += shmem_test_any(words, 1, NULL, SHMEM_CMP_EQ, (TYPE)1) +                                                 \
               shmem_test_any_vector(words, 1, NULL, SHMEM_CMP_EQ, values);                                            \
        sum += shmem_test_some(words, 1, found, NULL, SHMEM_CMP_EQ, (TYPE)1) +                                         \
               shmem_test_some_vector(words, 1, found, NULL, SHMEM_CMP_EQ, values);                                    \
        return sum == 7;                                                                                               \
    }
#define OLD_SWAPS_OF(NAME, TYPE)                                                                                       \
    static int old_swaps_##NAME(int me) {                                                                              \
        static TYPE word;                                                                                              \
        const TYPE* const read = &word;                                                                                \
        shmem_set(&word, (TYPE)1, me);                                                                                 \
        return shmem_swap(&word, (TYPE)2, me) == (TYPE)1 && shmem_fetch(read, me) == (TYPE)2;                          \
    }
#define OLD_ATOMICS_OF(NAME, TYPE)                                                                                     \
    static int old_atomics_##NAME(int me) {                                                                            \
        static TYPE word;                                                                                              \
        shmem_inc(&word, me), shmem_add(&word, (TYPE)1, me);                                                           \
        return shmem_finc(&word, me) == (TYPE)2 && shmem_fadd(&word, (TYPE)1, me) == (TYPE)3 &&                        \
               shmem_cswap(&word, (TYPE)4, (TYPE)5, me) == (TYPE)4;                                                    \
    }

/* clang-format off */
#define DISTINCT_ATOMIC(X)                                                                                             \
    X(int, int)                                                                                                        \
    X(long, long) X(longlong, long long) X(uint, unsigned) X(ulong, unsigned long) X(ulonglong, unsigned long long)
#define DISTINCT(X)                                                                                                    \
    DISTINCT_ATOMIC(X)                                                                                                 \
    X(char, char)                                                                                                      \
    X(schar, signed char)                                                                                              \
    X(short, short)                                                                                                    \
    X(uchar, unsigned char)                                                                                            \
    X(ushort, unsigned short)                                                                                          \
    X(float, float)                                                                                                    \
    X(double, double)                                                                                                  \
    X(longdouble, long double) X(size, size_t) X(ptrdiff, ptrdiff_t) X(int8, int8_t) X(uint64, uint64_t)
#define SWAPPED(X) DISTINCT_ATOMIC(X) X(float, float) X(double, double) X(ptrdiff, ptrdiff_t)
#define BITS(X)                                                                                                        \
    X(uchar, unsigned char)                                                                                            \
    X(ushort, unsigned short)                                                                                          \
    X(uint, unsigned)                                                                                                  \
    X(ulong, unsigned long)                                                                                            \
    X(ulonglong, unsigned long long) X(int8, int8_t) X(int16, int16_t) X(int32, int32_t) X(int64, int64_t)
#define BIT_ATOMICS(X) X(uint, unsigned) X(ulong, unsigned long) X(ulonglong, unsigned long long) X(int64, int64_t)
#define WAITED(X) DISTINCT_ATOMIC(X) X(short, short) X(ushort, unsigned short)
#define OLD_SWAPPED(X) X(int, int) X(long, long) X(longlong, long long) X(float, float) X(double, double)
#define OLD_CHANGED(X) X(int, int) X(long, long) X(longlong, long long)
DISTINCT(WITH_TYPE)
DISTINCT(COLLECTIVES_OF)
BITS(BITS_OF)
DISTINCT_ATOMIC(ATOMICS_OF)
SWAPPED(SWAPS_OF)
BIT_ATOMICS(BIT_ATOMICS_OF)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdiscarded-qualifiers"
WAITED(WAITS_OF)
#pragma GCC diagnostic pop
OLD_SWAPPED(OLD_SWAPS_OF)
OLD_CHANGED(OLD_ATOMICS_OF)

/* clang-format on */

static int call_generics(shmem_ctx_t ctx, int me, int pes) {
    int right = 1;
#define CALL_RMA(NAME, TYPE) right &= rma_##NAME(ctx, me);
#define CALL_COLLECTIVES(NAME, TYPE) right &= collectives_##NAME(pes);
#define CALL_BITS(NAME, TYPE) right &= bits_##NAME();
#define CALL_ATOMICS(NAME, TYPE) right &= atomics_##NAME(ctx, me);
#define CALL_SWAPS(NAME, TYPE) right &= swaps_##NAME(ctx, me);
#define CALL_BIT_ATOMICS(NAME, TYPE) right &= bit_atomics_##NAME(ctx, me);
#define CALL_WAITS(NAME, TYPE) right &= waits_##NAME();
#define CALL_OLD_SWAPS(NAME, TYPE) right &= old_swaps_##NAME(me);
#define CALL_OLD_ATOMICS(NAME, TYPE) right &= old_atomics_##NAME(me);
    DISTINCT(CALL_RMA)
    DISTINCT(CALL_COLLECTIVES)
    BITS(CALL_BITS)
    DISTINCT_ATOMIC(CALL_ATOMICS)
    SWAPPED(CALL_SWAPS)
    BIT_ATOMICS(CALL_BIT_ATOMICS)
    WAITED(CALL_WAITS)
    OLD_SWAPPED(CALL_OLD_SWAPS)
    OLD_CHANGED(CALL_OLD_ATOMICS)
    static double _Complex sum, part = 1;
    right &= shmem_sum_reduce(SHMEM_TEAM_WORLD, &sum, &part, 1) == 0 && creal(sum) == pes;
    shmem_sync(SHMEM_TEAM_WORLD);
    shmem_sync(0, 0, pes, NULL);
    return right;
}
#else
static int call_generics(shmem_ctx_t ctx, int me, int pes) {
    static long word = 1;
    (void)ctx, (void)pes;
    return shmem_swap(&word, 2, me) == 1 && word == 2;
}
#endif

int main(void) {
    shmem_init();
    const int me = shmem_my_pe(), pes = shmem_n_pes();
    shmem_ctx_t ctx = SHMEM_CTX_INVALID;
    int right = shmem_ctx_create(0, &ctx) == 0 && call_generics(ctx, me, pes);
    take_all();
    right = right && names > 1500 && last != NULL && texts[0] != NULL && constants[0] == 1;
    shmem_ctx_destroy(ctx);
    printf(right ? "right, %d names\n" : "WRONG, %d names\n", names);
    shmem_finalize();
    return right ? 0 : 1;
}
