/* SPDX-License-Identifier: Apache-2.0 */
/* OpenSHMEM 1.5 for C, and the names of earlier versions that programs still use. Compile with causeway-oshcc. */
#ifndef CAUSEWAY_SHMEM_H
#define CAUSEWAY_SHMEM_H

#include <complex.h>
#include <stddef.h>
#include <stdint.h>

#define SHMEM_MAJOR_VERSION 1
#define SHMEM_MINOR_VERSION 5
#define SHMEM_VENDOR_STRING "Causeway"
#define SHMEM_MAX_NAME_LEN 64
#define _SHMEM_MAJOR_VERSION SHMEM_MAJOR_VERSION
#define _SHMEM_MINOR_VERSION SHMEM_MINOR_VERSION
#define _SHMEM_VENDOR_STRING SHMEM_VENDOR_STRING
#define _SHMEM_MAX_NAME_LEN SHMEM_MAX_NAME_LEN

#define SHMEM_THREAD_SINGLE 0
#define SHMEM_THREAD_FUNNELED 1
#define SHMEM_THREAD_SERIALIZED 2
#define SHMEM_THREAD_MULTIPLE 3

#define SHMEM_CTX_PRIVATE 1
#define SHMEM_CTX_SERIALIZED 2
#define SHMEM_CTX_NOSTORE 4

#define SHMEM_SIGNAL_SET 0
#define SHMEM_SIGNAL_ADD 1

#define SHMEM_MALLOC_ATOMICS_REMOTE 1
#define SHMEM_MALLOC_SIGNAL_REMOTE 2

#define SHMEM_TEAM_NUM_CONTEXTS 1

enum { SHMEM_CMP_EQ = 1, SHMEM_CMP_NE, SHMEM_CMP_GT, SHMEM_CMP_GE, SHMEM_CMP_LT, SHMEM_CMP_LE };
#define _SHMEM_CMP_EQ SHMEM_CMP_EQ
#define _SHMEM_CMP_NE SHMEM_CMP_NE
#define _SHMEM_CMP_GT SHMEM_CMP_GT
#define _SHMEM_CMP_GE SHMEM_CMP_GE
#define _SHMEM_CMP_LT SHMEM_CMP_LT
#define _SHMEM_CMP_LE SHMEM_CMP_LE

/* Sizes of pSync and pWrk, which Causeway's active-set collectives do not use. */
#define SHMEM_SYNC_VALUE 0L
#define SHMEM_SYNC_SIZE 2
#define SHMEM_BARRIER_SYNC_SIZE SHMEM_SYNC_SIZE
#define SHMEM_BCAST_SYNC_SIZE SHMEM_SYNC_SIZE
#define SHMEM_COLLECT_SYNC_SIZE SHMEM_SYNC_SIZE
#define SHMEM_REDUCE_SYNC_SIZE SHMEM_SYNC_SIZE
#define SHMEM_ALLTOALL_SYNC_SIZE SHMEM_SYNC_SIZE
#define SHMEM_ALLTOALLS_SYNC_SIZE SHMEM_SYNC_SIZE
#define SHMEM_REDUCE_MIN_WRKDATA_SIZE 1
#define _SHMEM_SYNC_VALUE SHMEM_SYNC_VALUE
#define _SHMEM_SYNC_SIZE SHMEM_SYNC_SIZE
#define _SHMEM_BARRIER_SYNC_SIZE SHMEM_SYNC_SIZE
#define _SHMEM_BCAST_SYNC_SIZE SHMEM_SYNC_SIZE
#define _SHMEM_COLLECT_SYNC_SIZE SHMEM_SYNC_SIZE
#define _SHMEM_REDUCE_SYNC_SIZE SHMEM_SYNC_SIZE
#define _SHMEM_ALLTOALL_SYNC_SIZE SHMEM_SYNC_SIZE
#define _SHMEM_ALLTOALLS_SYNC_SIZE SHMEM_SYNC_SIZE
#define _SHMEM_REDUCE_MIN_WRKDATA_SIZE SHMEM_REDUCE_MIN_WRKDATA_SIZE

/* Lists of types: NAME in function names, and TYPE. The OWN lists name each distinct C type once, for _Generic. */
/* clang-format off */
#define CAUSEWAY_SHMEM_OWN_TYPES(X)                                                                                                \
    X(float, float) X(double, double) X(longdouble, long double) X(char, char) X(schar, signed char) X(short, short)               \
    X(int, int) X(long, long) X(longlong, long long) X(uchar, unsigned char) X(ushort, unsigned short) X(uint, unsigned int)       \
    X(ulong, unsigned long) X(ulonglong, unsigned long long)
#define CAUSEWAY_SHMEM_FIXED_TYPES(X)                                                                                              \
    X(int8, int8_t) X(int16, int16_t) X(int32, int32_t) X(int64, int64_t) X(uint8, uint8_t) X(uint16, uint16_t)                    \
    X(uint32, uint32_t) X(uint64, uint64_t) X(size, size_t) X(ptrdiff, ptrdiff_t)
#define CAUSEWAY_SHMEM_RMA_TYPES(X) CAUSEWAY_SHMEM_OWN_TYPES(X) CAUSEWAY_SHMEM_FIXED_TYPES(X)
#define CAUSEWAY_SHMEM_AMO_OWN_TYPES(X)                                                                                            \
    X(int, int) X(long, long) X(longlong, long long) X(uint, unsigned int) X(ulong, unsigned long) X(ulonglong, unsigned long long)
#define CAUSEWAY_SHMEM_AMO_FIXED_TYPES(X)                                                                                          \
    X(int32, int32_t) X(int64, int64_t) X(uint32, uint32_t) X(uint64, uint64_t) X(size, size_t) X(ptrdiff, ptrdiff_t)
#define CAUSEWAY_SHMEM_AMO_TYPES(X) CAUSEWAY_SHMEM_AMO_OWN_TYPES(X) CAUSEWAY_SHMEM_AMO_FIXED_TYPES(X)
#define CAUSEWAY_SHMEM_EXTENDED_OWN_TYPES(X) CAUSEWAY_SHMEM_AMO_OWN_TYPES(X) X(float, float) X(double, double)
#define CAUSEWAY_SHMEM_EXTENDED_TYPES(X) CAUSEWAY_SHMEM_AMO_TYPES(X) X(float, float) X(double, double)
#define CAUSEWAY_SHMEM_BITWISE_OWN_TYPES(X)                                                                                        \
    X(uint, unsigned int) X(ulong, unsigned long) X(ulonglong, unsigned long long) X(int, int) X(long, long) X(longlong, long long)
#define CAUSEWAY_SHMEM_BITWISE_TYPES(X)                                                                                            \
    X(uint, unsigned int) X(ulong, unsigned long) X(ulonglong, unsigned long long) X(int, int) X(long, long) X(longlong, long long) \
    X(int32, int32_t) X(int64, int64_t) X(uint32, uint32_t) X(uint64, uint64_t)
#define CAUSEWAY_SHMEM_WAIT_TYPES(X) CAUSEWAY_SHMEM_AMO_TYPES(X) X(short, short) X(ushort, unsigned short)
#define CAUSEWAY_SHMEM_WAIT_OWN_TYPES(X) CAUSEWAY_SHMEM_AMO_OWN_TYPES(X) X(short, short) X(ushort, unsigned short)
#define CAUSEWAY_SHMEM_REDUCE_BITS_TYPES(X)                                                                                        \
    X(uchar, unsigned char) X(ushort, unsigned short) X(uint, unsigned int) X(ulong, unsigned long) X(ulonglong, unsigned long long) \
    X(int8, int8_t) X(int16, int16_t) X(int32, int32_t) X(int64, int64_t) X(uint8, uint8_t) X(uint16, uint16_t)                    \
    X(uint32, uint32_t) X(uint64, uint64_t) X(size, size_t) X(short, short) X(int, int) X(long, long) X(longlong, long long)
#define CAUSEWAY_SHMEM_REDUCE_ORDER_TYPES(X)                                                                                       \
    CAUSEWAY_SHMEM_OWN_TYPES(X) CAUSEWAY_SHMEM_FIXED_TYPES(X)
/* clang-format on */
__extension__ typedef float _Complex causeway_shmem_complexf; /* also in C++, where GCC and clang have them */
__extension__ typedef double _Complex causeway_shmem_complexd;
#define CAUSEWAY_SHMEM_COMPLEX_TYPES(X) X(complexf, causeway_shmem_complexf) X(complexd, causeway_shmem_complexd)
#define CAUSEWAY_SHMEM_OLD_REDUCE_TYPES(X) X(short, short) X(int, int) X(long, long) X(longlong, long long)
#define CAUSEWAY_SHMEM_OLD_REAL_TYPES(X) X(float, float) X(double, double) X(longdouble, long double)
#define CAUSEWAY_SHMEM_SIZES(X) X(8, 1) X(16, 2) X(32, 4) X(64, 8) X(128, 16)

#ifdef __cplusplus
extern "C" {
#endif

typedef struct causeway_shmem_context* shmem_ctx_t;
typedef struct causeway_shmem_team* shmem_team_t;
typedef struct {
    int num_contexts;
} shmem_team_config_t;

extern struct causeway_shmem_context causeway_shmem_default_context;
extern struct causeway_shmem_team causeway_shmem_world, causeway_shmem_shared;
#define SHMEM_CTX_DEFAULT (&causeway_shmem_default_context)
#define SHMEM_CTX_INVALID ((shmem_ctx_t)0)
#define SHMEM_TEAM_WORLD (&causeway_shmem_world)
#define SHMEM_TEAM_SHARED (&causeway_shmem_shared)
#define SHMEM_TEAM_INVALID ((shmem_team_t)0)

void shmem_init(void);
int shmem_init_thread(int requested, int* provided);
void shmem_query_thread(int* provided);
void shmem_finalize(void);
void shmem_global_exit(int status);
int shmem_my_pe(void);
int shmem_n_pes(void);
int shmem_pe_accessible(int pe);
int shmem_addr_accessible(const void* address, int pe);
void* shmem_ptr(const void* address, int pe);
void shmem_info_get_version(int* major, int* minor);
void shmem_info_get_name(char* name);
void shmem_pcontrol(int level, ...);

void* shmem_malloc(size_t size);
void* shmem_calloc(size_t count, size_t size);
void* shmem_align(size_t alignment, size_t size);
void* shmem_malloc_with_hints(size_t size, long hints);
void* shmem_realloc(void* address, size_t size);
void shmem_free(void* address);

int shmem_team_my_pe(shmem_team_t team);
int shmem_team_n_pes(shmem_team_t team);
int shmem_team_get_config(shmem_team_t team, long mask, shmem_team_config_t* config);
int shmem_team_translate_pe(shmem_team_t from, int pe, shmem_team_t to);
int shmem_team_split_strided(shmem_team_t parent, int start, int stride, int size, const shmem_team_config_t* config,
                             long mask, shmem_team_t* made);
int shmem_team_split_2d(shmem_team_t parent, int xrange, const shmem_team_config_t* xconfig, long xmask,
                        shmem_team_t* xteam, const shmem_team_config_t* yconfig, long ymask, shmem_team_t* yteam);
void shmem_team_destroy(shmem_team_t team);

int shmem_ctx_create(long options, shmem_ctx_t* ctx);
int shmem_team_create_ctx(shmem_team_t team, long options, shmem_ctx_t* ctx);
void shmem_ctx_destroy(shmem_ctx_t ctx);
int shmem_ctx_get_team(shmem_ctx_t ctx, shmem_team_t* team);

void shmem_fence(void);
void shmem_ctx_fence(shmem_ctx_t ctx);
void shmem_quiet(void);
void shmem_ctx_quiet(shmem_ctx_t ctx);

/* Remote memory access. */
/* clang-format off */
#define CAUSEWAY_SHMEM_RMA(NAME, TYPE)                                                                                             \
    void shmem_##NAME##_put(TYPE *target, const TYPE *source, size_t count, int pe);                                               \
    void shmem_ctx_##NAME##_put(shmem_ctx_t ctx, TYPE *target, const TYPE *source, size_t count, int pe);                          \
    void shmem_##NAME##_get(TYPE *target, const TYPE *source, size_t count, int pe);                                               \
    void shmem_ctx_##NAME##_get(shmem_ctx_t ctx, TYPE *target, const TYPE *source, size_t count, int pe);                          \
    void shmem_##NAME##_put_nbi(TYPE *target, const TYPE *source, size_t count, int pe);                                           \
    void shmem_ctx_##NAME##_put_nbi(shmem_ctx_t ctx, TYPE *target, const TYPE *source, size_t count, int pe);                      \
    void shmem_##NAME##_get_nbi(TYPE *target, const TYPE *source, size_t count, int pe);                                           \
    void shmem_ctx_##NAME##_get_nbi(shmem_ctx_t ctx, TYPE *target, const TYPE *source, size_t count, int pe);                      \
    void shmem_##NAME##_p(TYPE *target, TYPE value, int pe);                                                                       \
    void shmem_ctx_##NAME##_p(shmem_ctx_t ctx, TYPE *target, TYPE value, int pe);                                                  \
    TYPE shmem_##NAME##_g(const TYPE *source, int pe);                                                                             \
    TYPE shmem_ctx_##NAME##_g(shmem_ctx_t ctx, const TYPE *source, int pe);                                                        \
    void shmem_##NAME##_iput(TYPE *target, const TYPE *source, ptrdiff_t tst, ptrdiff_t sst, size_t count, int pe);                \
    void shmem_ctx_##NAME##_iput(shmem_ctx_t ctx, TYPE *target, const TYPE *source, ptrdiff_t tst, ptrdiff_t sst, size_t count, int pe); \
    void shmem_##NAME##_iget(TYPE *target, const TYPE *source, ptrdiff_t tst, ptrdiff_t sst, size_t count, int pe);                \
    void shmem_ctx_##NAME##_iget(shmem_ctx_t ctx, TYPE *target, const TYPE *source, ptrdiff_t tst, ptrdiff_t sst, size_t count, int pe); \
    void shmem_##NAME##_put_signal(TYPE *target, const TYPE *source, size_t count, uint64_t *signal, uint64_t value, int op, int pe); \
    void shmem_ctx_##NAME##_put_signal(shmem_ctx_t ctx, TYPE *target, const TYPE *source, size_t count, uint64_t *signal,          \
                                       uint64_t value, int op, int pe);                                                            \
    void shmem_##NAME##_put_signal_nbi(TYPE *target, const TYPE *source, size_t count, uint64_t *signal, uint64_t value, int op, int pe); \
    void shmem_ctx_##NAME##_put_signal_nbi(shmem_ctx_t ctx, TYPE *target, const TYPE *source, size_t count, uint64_t *signal,      \
                                           uint64_t value, int op, int pe);
/* clang-format on */
CAUSEWAY_SHMEM_RMA_TYPES(CAUSEWAY_SHMEM_RMA)

/* clang-format off */
#define CAUSEWAY_SHMEM_RMA_SIZE(NAME, BYTES)                                                                                       \
    void shmem_put##NAME(void *target, const void *source, size_t count, int pe);                                                  \
    void shmem_ctx_put##NAME(shmem_ctx_t ctx, void *target, const void *source, size_t count, int pe);                             \
    void shmem_get##NAME(void *target, const void *source, size_t count, int pe);                                                  \
    void shmem_ctx_get##NAME(shmem_ctx_t ctx, void *target, const void *source, size_t count, int pe);                             \
    void shmem_put##NAME##_nbi(void *target, const void *source, size_t count, int pe);                                            \
    void shmem_ctx_put##NAME##_nbi(shmem_ctx_t ctx, void *target, const void *source, size_t count, int pe);                       \
    void shmem_get##NAME##_nbi(void *target, const void *source, size_t count, int pe);                                            \
    void shmem_ctx_get##NAME##_nbi(shmem_ctx_t ctx, void *target, const void *source, size_t count, int pe);                       \
    void shmem_put##NAME##_signal(void *target, const void *source, size_t count, uint64_t *signal, uint64_t value, int op, int pe); \
    void shmem_ctx_put##NAME##_signal(shmem_ctx_t ctx, void *target, const void *source, size_t count, uint64_t *signal,           \
                                      uint64_t value, int op, int pe);                                                             \
    void shmem_put##NAME##_signal_nbi(void *target, const void *source, size_t count, uint64_t *signal, uint64_t value, int op, int pe); \
    void shmem_ctx_put##NAME##_signal_nbi(shmem_ctx_t ctx, void *target, const void *source, size_t count, uint64_t *signal,       \
                                          uint64_t value, int op, int pe);
/* clang-format on */
CAUSEWAY_SHMEM_SIZES(CAUSEWAY_SHMEM_RMA_SIZE)
CAUSEWAY_SHMEM_RMA_SIZE(mem, 1)
/* clang-format off */
#define CAUSEWAY_SHMEM_STRIDED_SIZE(NAME, BYTES)                                                                                   \
    void shmem_iput##NAME(void *target, const void *source, ptrdiff_t tst, ptrdiff_t sst, size_t count, int pe);                   \
    void shmem_ctx_iput##NAME(shmem_ctx_t ctx, void *target, const void *source, ptrdiff_t tst, ptrdiff_t sst, size_t count, int pe); \
    void shmem_iget##NAME(void *target, const void *source, ptrdiff_t tst, ptrdiff_t sst, size_t count, int pe);                   \
    void shmem_ctx_iget##NAME(shmem_ctx_t ctx, void *target, const void *source, ptrdiff_t tst, ptrdiff_t sst, size_t count, int pe);
/* clang-format on */
CAUSEWAY_SHMEM_SIZES(CAUSEWAY_SHMEM_STRIDED_SIZE)

/* Atomics. */
/* clang-format off */
#define CAUSEWAY_SHMEM_AMO_EXTENDED(NAME, TYPE)                                                                                    \
    TYPE shmem_##NAME##_atomic_fetch(const TYPE *source, int pe);                                                                  \
    TYPE shmem_ctx_##NAME##_atomic_fetch(shmem_ctx_t ctx, const TYPE *source, int pe);                                             \
    void shmem_##NAME##_atomic_set(TYPE *target, TYPE value, int pe);                                                              \
    void shmem_ctx_##NAME##_atomic_set(shmem_ctx_t ctx, TYPE *target, TYPE value, int pe);                                         \
    TYPE shmem_##NAME##_atomic_swap(TYPE *target, TYPE value, int pe);                                                             \
    TYPE shmem_ctx_##NAME##_atomic_swap(shmem_ctx_t ctx, TYPE *target, TYPE value, int pe);                                        \
    void shmem_##NAME##_atomic_fetch_nbi(TYPE *fetch, const TYPE *source, int pe);                                                 \
    void shmem_ctx_##NAME##_atomic_fetch_nbi(shmem_ctx_t ctx, TYPE *fetch, const TYPE *source, int pe);                            \
    void shmem_##NAME##_atomic_swap_nbi(TYPE *fetch, TYPE *target, TYPE value, int pe);                                            \
    void shmem_ctx_##NAME##_atomic_swap_nbi(shmem_ctx_t ctx, TYPE *fetch, TYPE *target, TYPE value, int pe);
/* clang-format on */
CAUSEWAY_SHMEM_EXTENDED_TYPES(CAUSEWAY_SHMEM_AMO_EXTENDED)
/* clang-format off */
#define CAUSEWAY_SHMEM_AMO_STANDARD(NAME, TYPE)                                                                                    \
    TYPE shmem_##NAME##_atomic_compare_swap(TYPE *target, TYPE condition, TYPE value, int pe);                                     \
    TYPE shmem_ctx_##NAME##_atomic_compare_swap(shmem_ctx_t ctx, TYPE *target, TYPE condition, TYPE value, int pe);                \
    TYPE shmem_##NAME##_atomic_fetch_inc(TYPE *target, int pe);                                                                    \
    TYPE shmem_ctx_##NAME##_atomic_fetch_inc(shmem_ctx_t ctx, TYPE *target, int pe);                                               \
    void shmem_##NAME##_atomic_inc(TYPE *target, int pe);                                                                          \
    void shmem_ctx_##NAME##_atomic_inc(shmem_ctx_t ctx, TYPE *target, int pe);                                                     \
    TYPE shmem_##NAME##_atomic_fetch_add(TYPE *target, TYPE value, int pe);                                                        \
    TYPE shmem_ctx_##NAME##_atomic_fetch_add(shmem_ctx_t ctx, TYPE *target, TYPE value, int pe);                                   \
    void shmem_##NAME##_atomic_add(TYPE *target, TYPE value, int pe);                                                              \
    void shmem_ctx_##NAME##_atomic_add(shmem_ctx_t ctx, TYPE *target, TYPE value, int pe);                                         \
    void shmem_##NAME##_atomic_compare_swap_nbi(TYPE *fetch, TYPE *target, TYPE condition, TYPE value, int pe);                    \
    void shmem_ctx_##NAME##_atomic_compare_swap_nbi(shmem_ctx_t ctx, TYPE *fetch, TYPE *target, TYPE condition, TYPE value, int pe); \
    void shmem_##NAME##_atomic_fetch_inc_nbi(TYPE *fetch, TYPE *target, int pe);                                                   \
    void shmem_ctx_##NAME##_atomic_fetch_inc_nbi(shmem_ctx_t ctx, TYPE *fetch, TYPE *target, int pe);                              \
    void shmem_##NAME##_atomic_fetch_add_nbi(TYPE *fetch, TYPE *target, TYPE value, int pe);                                       \
    void shmem_ctx_##NAME##_atomic_fetch_add_nbi(shmem_ctx_t ctx, TYPE *fetch, TYPE *target, TYPE value, int pe);
/* clang-format on */
CAUSEWAY_SHMEM_AMO_TYPES(CAUSEWAY_SHMEM_AMO_STANDARD)
/* clang-format off */
#define CAUSEWAY_SHMEM_AMO_BITWISE_OP(NAME, TYPE, OP)                                                                              \
    void shmem_##NAME##_atomic_##OP(TYPE *target, TYPE value, int pe);                                                             \
    void shmem_ctx_##NAME##_atomic_##OP(shmem_ctx_t ctx, TYPE *target, TYPE value, int pe);                                        \
    TYPE shmem_##NAME##_atomic_fetch_##OP(TYPE *target, TYPE value, int pe);                                                       \
    TYPE shmem_ctx_##NAME##_atomic_fetch_##OP(shmem_ctx_t ctx, TYPE *target, TYPE value, int pe);                                  \
    void shmem_##NAME##_atomic_fetch_##OP##_nbi(TYPE *fetch, TYPE *target, TYPE value, int pe);                                    \
    void shmem_ctx_##NAME##_atomic_fetch_##OP##_nbi(shmem_ctx_t ctx, TYPE *fetch, TYPE *target, TYPE value, int pe);
#define CAUSEWAY_SHMEM_AMO_BITWISE(NAME, TYPE)                                                                                     \
    CAUSEWAY_SHMEM_AMO_BITWISE_OP(NAME, TYPE, and)                                                                                 \
    CAUSEWAY_SHMEM_AMO_BITWISE_OP(NAME, TYPE, or)                                                                                  \
    CAUSEWAY_SHMEM_AMO_BITWISE_OP(NAME, TYPE, xor)
/* clang-format on */
CAUSEWAY_SHMEM_BITWISE_TYPES(CAUSEWAY_SHMEM_AMO_BITWISE)

uint64_t shmem_signal_fetch(const uint64_t* signal);
uint64_t shmem_signal_wait_until(uint64_t* signal, int cmp, uint64_t value);

/* Point-to-point synchronisation. */
/* clang-format off */
#define CAUSEWAY_SHMEM_WAITS(NAME, TYPE)                                                                                           \
    void shmem_##NAME##_wait_until(TYPE *word, int cmp, TYPE value);                                                               \
    void shmem_##NAME##_wait_until_all(TYPE *words, size_t count, const int *status, int cmp, TYPE value);                         \
    size_t shmem_##NAME##_wait_until_any(TYPE *words, size_t count, const int *status, int cmp, TYPE value);                       \
    size_t shmem_##NAME##_wait_until_some(TYPE *words, size_t count, size_t *indices, const int *status, int cmp, TYPE value);     \
    void shmem_##NAME##_wait_until_all_vector(TYPE *words, size_t count, const int *status, int cmp, TYPE *values);                \
    size_t shmem_##NAME##_wait_until_any_vector(TYPE *words, size_t count, const int *status, int cmp, TYPE *values);              \
    size_t shmem_##NAME##_wait_until_some_vector(TYPE *words, size_t count, size_t *indices, const int *status, int cmp, TYPE *values); \
    int shmem_##NAME##_test(TYPE *word, int cmp, TYPE value);                                                                      \
    int shmem_##NAME##_test_all(TYPE *words, size_t count, const int *status, int cmp, TYPE value);                                \
    size_t shmem_##NAME##_test_any(TYPE *words, size_t count, const int *status, int cmp, TYPE value);                             \
    size_t shmem_##NAME##_test_some(TYPE *words, size_t count, size_t *indices, const int *status, int cmp, TYPE value);           \
    int shmem_##NAME##_test_all_vector(TYPE *words, size_t count, const int *status, int cmp, TYPE *values);                       \
    size_t shmem_##NAME##_test_any_vector(TYPE *words, size_t count, const int *status, int cmp, TYPE *values);                    \
    size_t shmem_##NAME##_test_some_vector(TYPE *words, size_t count, size_t *indices, const int *status, int cmp, TYPE *values);
/* clang-format on */
CAUSEWAY_SHMEM_WAIT_TYPES(CAUSEWAY_SHMEM_WAITS)

/* Collectives of teams. */
void shmem_barrier_all(void);
void shmem_sync_all(void);
int shmem_team_sync(shmem_team_t team);
/* clang-format off */
#define CAUSEWAY_SHMEM_COLLECTIVES(NAME, TYPE)                                                                                     \
    int shmem_##NAME##_broadcast(shmem_team_t team, TYPE *target, const TYPE *source, size_t count, int root);                     \
    int shmem_##NAME##_collect(shmem_team_t team, TYPE *target, const TYPE *source, size_t count);                                 \
    int shmem_##NAME##_fcollect(shmem_team_t team, TYPE *target, const TYPE *source, size_t count);                                \
    int shmem_##NAME##_alltoall(shmem_team_t team, TYPE *target, const TYPE *source, size_t count);                                \
    int shmem_##NAME##_alltoalls(shmem_team_t team, TYPE *target, const TYPE *source, ptrdiff_t tst, ptrdiff_t sst, size_t count);
/* clang-format on */
CAUSEWAY_SHMEM_RMA_TYPES(CAUSEWAY_SHMEM_COLLECTIVES)
int shmem_broadcastmem(shmem_team_t team, void* target, const void* source, size_t count, int root);
int shmem_collectmem(shmem_team_t team, void* target, const void* source, size_t count);
int shmem_fcollectmem(shmem_team_t team, void* target, const void* source, size_t count);
int shmem_alltoallmem(shmem_team_t team, void* target, const void* source, size_t count);
int shmem_alltoallsmem(shmem_team_t team, void* target, const void* source, ptrdiff_t tst, ptrdiff_t sst, size_t count);
#define CAUSEWAY_SHMEM_REDUCE(NAME, TYPE, OP)                                                                          \
    int shmem_##NAME##_##OP##_reduce(shmem_team_t team, TYPE* target, const TYPE* source, size_t count);
/* clang-format off */
#define CAUSEWAY_SHMEM_REDUCE_BITS(NAME, TYPE)                                                                                     \
    CAUSEWAY_SHMEM_REDUCE(NAME, TYPE, and) CAUSEWAY_SHMEM_REDUCE(NAME, TYPE, or) CAUSEWAY_SHMEM_REDUCE(NAME, TYPE, xor)
/* clang-format on */
#define CAUSEWAY_SHMEM_REDUCE_ORDER(NAME, TYPE)                                                                        \
    CAUSEWAY_SHMEM_REDUCE(NAME, TYPE, min) CAUSEWAY_SHMEM_REDUCE(NAME, TYPE, max)
#define CAUSEWAY_SHMEM_REDUCE_SUMS(NAME, TYPE)                                                                         \
    CAUSEWAY_SHMEM_REDUCE(NAME, TYPE, sum) CAUSEWAY_SHMEM_REDUCE(NAME, TYPE, prod)
CAUSEWAY_SHMEM_REDUCE_BITS_TYPES(CAUSEWAY_SHMEM_REDUCE_BITS)
CAUSEWAY_SHMEM_REDUCE_ORDER_TYPES(CAUSEWAY_SHMEM_REDUCE_ORDER)
CAUSEWAY_SHMEM_REDUCE_ORDER_TYPES(CAUSEWAY_SHMEM_REDUCE_SUMS)
CAUSEWAY_SHMEM_COMPLEX_TYPES(CAUSEWAY_SHMEM_REDUCE_SUMS)

/* Locks. */
void shmem_set_lock(long* lock);
void shmem_clear_lock(long* lock);
int shmem_test_lock(long* lock);

/* Active sets. pSync and pWrk are not used. */
void shmem_barrier(int start, int log_stride, int size, long* pSync);
void shmem_sync(int start, int log_stride, int size, long* pSync);
/* clang-format off */
#define CAUSEWAY_SHMEM_ACTIVE_SET(BITS)                                                                                            \
    void shmem_broadcast##BITS(void *target, const void *source, size_t count, int root, int start, int log_stride, int size, long *pSync); \
    void shmem_collect##BITS(void *target, const void *source, size_t count, int start, int log_stride, int size, long *pSync);    \
    void shmem_fcollect##BITS(void *target, const void *source, size_t count, int start, int log_stride, int size, long *pSync);   \
    void shmem_alltoall##BITS(void *target, const void *source, size_t count, int start, int log_stride, int size, long *pSync);   \
    void shmem_alltoalls##BITS(void *target, const void *source, ptrdiff_t tst, ptrdiff_t sst, size_t count, int start,            \
                               int log_stride, int size, long *pSync);
/* clang-format on */
CAUSEWAY_SHMEM_ACTIVE_SET(32)
CAUSEWAY_SHMEM_ACTIVE_SET(64)
/* clang-format off */
#define CAUSEWAY_SHMEM_TO_ALL(NAME, TYPE, OP)                                                                                      \
    void shmem_##NAME##_##OP##_to_all(TYPE *target, const TYPE *source, int count, int start, int log_stride, int size, TYPE *pWrk, long *pSync);
#define CAUSEWAY_SHMEM_TO_ALL_BITS(NAME, TYPE)                                                                                     \
    CAUSEWAY_SHMEM_TO_ALL(NAME, TYPE, and) CAUSEWAY_SHMEM_TO_ALL(NAME, TYPE, or) CAUSEWAY_SHMEM_TO_ALL(NAME, TYPE, xor)
/* clang-format on */
#define CAUSEWAY_SHMEM_TO_ALL_ORDER(NAME, TYPE)                                                                        \
    CAUSEWAY_SHMEM_TO_ALL(NAME, TYPE, min) CAUSEWAY_SHMEM_TO_ALL(NAME, TYPE, max)
#define CAUSEWAY_SHMEM_TO_ALL_SUMS(NAME, TYPE)                                                                         \
    CAUSEWAY_SHMEM_TO_ALL(NAME, TYPE, sum) CAUSEWAY_SHMEM_TO_ALL(NAME, TYPE, prod)
CAUSEWAY_SHMEM_OLD_REDUCE_TYPES(CAUSEWAY_SHMEM_TO_ALL_BITS)
CAUSEWAY_SHMEM_OLD_REDUCE_TYPES(CAUSEWAY_SHMEM_TO_ALL_ORDER)
CAUSEWAY_SHMEM_OLD_REAL_TYPES(CAUSEWAY_SHMEM_TO_ALL_ORDER)
CAUSEWAY_SHMEM_OLD_REDUCE_TYPES(CAUSEWAY_SHMEM_TO_ALL_SUMS)
CAUSEWAY_SHMEM_OLD_REAL_TYPES(CAUSEWAY_SHMEM_TO_ALL_SUMS)
CAUSEWAY_SHMEM_COMPLEX_TYPES(CAUSEWAY_SHMEM_TO_ALL_SUMS)

/* Names of earlier versions. */
void start_pes(int count);
int _my_pe(void);
int _num_pes(void);
int my_pe(void);
int num_pes(void);
void* shmalloc(size_t size);
void shfree(void* address);
void* shrealloc(void* address, size_t size);
void* shmemalign(size_t alignment, size_t size);
/* clang-format off */
#define CAUSEWAY_SHMEM_OLD_SWAP(NAME, TYPE)                                                                                        \
    TYPE shmem_##NAME##_swap(TYPE *target, TYPE value, int pe);                                                                    \
    TYPE shmem_##NAME##_fetch(const TYPE *source, int pe);                                                                         \
    void shmem_##NAME##_set(TYPE *target, TYPE value, int pe);
#define CAUSEWAY_SHMEM_OLD_ATOMICS(NAME, TYPE)                                                                                     \
    TYPE shmem_##NAME##_cswap(TYPE *target, TYPE condition, TYPE value, int pe);                                                   \
    TYPE shmem_##NAME##_finc(TYPE *target, int pe);                                                                                \
    void shmem_##NAME##_inc(TYPE *target, int pe);                                                                                 \
    TYPE shmem_##NAME##_fadd(TYPE *target, TYPE value, int pe);                                                                    \
    void shmem_##NAME##_add(TYPE *target, TYPE value, int pe);
/* clang-format on */
#define CAUSEWAY_SHMEM_OLD_ATOMIC_TYPES(X) X(int, int) X(long, long) X(longlong, long long)
CAUSEWAY_SHMEM_OLD_ATOMIC_TYPES(CAUSEWAY_SHMEM_OLD_SWAP)
CAUSEWAY_SHMEM_OLD_SWAP(float, float)
CAUSEWAY_SHMEM_OLD_SWAP(double, double)
CAUSEWAY_SHMEM_OLD_ATOMIC_TYPES(CAUSEWAY_SHMEM_OLD_ATOMICS)
long shmem_swap(long* target, long value, int pe);
void shmem_wait(long* word, long value);
void shmem_wait_until(long* word, int cmp, long value);
void shmem_short_wait(short* word, short value);
void shmem_int_wait(int* word, int value);
void shmem_long_wait(long* word, long value);
void shmem_longlong_wait(long long* word, long long value);
void shmem_clear_cache_inv(void);
void shmem_set_cache_inv(void);
void shmem_clear_cache_line_inv(void* address);
void shmem_set_cache_line_inv(void* address);
void shmem_udcflush(void);
void shmem_udcflush_line(void* address);

#ifdef __cplusplus
}
#endif

#if !defined(__cplusplus) && defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#include "shmem_generic.h"
#endif

#endif
