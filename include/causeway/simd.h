/* SPDX-License-Identifier: Apache-2.0 */
/* Short loops and 4 x 4 matrices in full vectors, for compilers without the plug-in: GCC, Clang, and OpenCL C.
 *
 * Nothing is linked: a program includes this header, and names no library of ours. Results are those of the plain
 * loops, rounded alike, if the compiler's options for arithmetic are the same. Without AVX-512, GCC warns that vectors
 * of 64 bytes are passed in another way (-Wno-psabi): the functions are always inlined, so nothing is passed.
 */
#ifndef CAUSEWAY_SIMD_H
#define CAUSEWAY_SIMD_H

#if defined(__OPENCL_VERSION__) || defined(__OPENCL_C_VERSION__)
#define CAUSEWAY_SIMD_OPENCL 1
#define CAUSEWAY_SIMD_FUNCTION static inline
#else
#define CAUSEWAY_SIMD_FUNCTION static inline __attribute__((always_inline))
#endif

/* Runs a loop body for 0 <= i < n in steps of `width` lanes, which a compiler turns into vectors. The rest is one more
 * step with a test for each lane, which becomes a mask. `width` is a constant, best the lanes of a vector. `body` tells
 * iterations apart by `i` alone, writes nothing that another iteration reads, and jumps nowhere.
 *
 *     CAUSEWAY_SHORT_LOOP(long, i, n, 16, c[i] = a[i] + b[i];)
 */
#if defined(CAUSEWAY_SIMD_OPENCL)
#define CAUSEWAY_LANES
#elif defined(__clang__)
#define CAUSEWAY_LANES _Pragma("clang loop vectorize(assume_safety) interleave(disable)")
#elif defined(__GNUC__)
#define CAUSEWAY_LANES _Pragma("GCC ivdep")
#else
#define CAUSEWAY_LANES
#endif
#if defined(__clang__) && !defined(CAUSEWAY_SIMD_OPENCL)
#define CAUSEWAY_MASKED_LANES                                                                                          \
    _Pragma("clang loop vectorize(assume_safety) vectorize_predicate(enable) interleave(disable)")
#else
#define CAUSEWAY_MASKED_LANES CAUSEWAY_LANES
#endif
#define CAUSEWAY_SHORT_LOOP(index_type, i, n, width, ...)                                                              \
    do {                                                                                                               \
        const index_type causeway_n = (n);                                                                             \
        const index_type causeway_whole = causeway_n > 0 ? causeway_n - causeway_n % (width) : 0;                      \
        const unsigned causeway_rest = causeway_n > 0 ? (unsigned)(causeway_n % (width)) : 0u;                         \
        CAUSEWAY_LANES                                                                                                 \
        for (index_type i = 0; i < causeway_whole; ++i) {                                                              \
            __VA_ARGS__                                                                                                \
        }                                                                                                              \
        CAUSEWAY_MASKED_LANES                                                                                          \
        for (unsigned causeway_lane = 0; causeway_lane < causeway_rest; ++causeway_lane) {                             \
            const index_type i = causeway_whole + (index_type)causeway_lane;                                           \
            __VA_ARGS__                                                                                                \
        }                                                                                                              \
    } while (0)

/* Matrices of 4 x 4 floats, row by row, in one vector of 16 lanes. */
#ifdef CAUSEWAY_SIMD_OPENCL
typedef float16 causeway_mat4;
#else
typedef float causeway_mat4 __attribute__((vector_size(64)));
#if defined(__clang__)
#define CAUSEWAY_MAT4_SHUFFLE(m, ...) __builtin_shufflevector(m, m, __VA_ARGS__)
#else
typedef int causeway_mat4_lanes __attribute__((vector_size(64)));
#define CAUSEWAY_MAT4_SHUFFLE(m, ...) __builtin_shuffle(m, (causeway_mat4_lanes){__VA_ARGS__})
#endif
#endif

/* ELEMENT: element `k` of each row, in the whole row. ROW: row `k`, in every row. COLUMN: column `k`, in every row. */
#ifdef CAUSEWAY_SIMD_OPENCL
/* By components: compilers may leave shuffle() a call. */
#define CAUSEWAY_MAT4_ELEMENT_0(m) (m).s000044448888cccc
#define CAUSEWAY_MAT4_ELEMENT_1(m) (m).s111155559999dddd
#define CAUSEWAY_MAT4_ELEMENT_2(m) (m).s22226666aaaaeeee
#define CAUSEWAY_MAT4_ELEMENT_3(m) (m).s33337777bbbbffff
#define CAUSEWAY_MAT4_ROW_0(m) (m).s0123012301230123
#define CAUSEWAY_MAT4_ROW_1(m) (m).s4567456745674567
#define CAUSEWAY_MAT4_ROW_2(m) (m).s89ab89ab89ab89ab
#define CAUSEWAY_MAT4_ROW_3(m) (m).scdefcdefcdefcdef
#define CAUSEWAY_MAT4_COLUMN_0(m) (m).s048c048c048c048c
#define CAUSEWAY_MAT4_COLUMN_1(m) (m).s159d159d159d159d
#define CAUSEWAY_MAT4_COLUMN_2(m) (m).s26ae26ae26ae26ae
#define CAUSEWAY_MAT4_COLUMN_3(m) (m).s37bf37bf37bf37bf
#define CAUSEWAY_MAT4_ELEMENT(m, k) CAUSEWAY_MAT4_ELEMENT_##k(m)
#define CAUSEWAY_MAT4_ROW(m, k) CAUSEWAY_MAT4_ROW_##k(m)
#define CAUSEWAY_MAT4_COLUMN(m, k) CAUSEWAY_MAT4_COLUMN_##k(m)
#define CAUSEWAY_MAT4_TRANSPOSED(m) (m).s048c159d26ae37bf
#else
#define CAUSEWAY_MAT4_ELEMENT(m, k)                                                                                    \
    CAUSEWAY_MAT4_SHUFFLE(m, k, k, k, k, 4 + k, 4 + k, 4 + k, 4 + k, 8 + k, 8 + k, 8 + k, 8 + k, 12 + k, 12 + k,       \
                          12 + k, 12 + k)
#define CAUSEWAY_MAT4_ROW(m, k)                                                                                        \
    CAUSEWAY_MAT4_SHUFFLE(m, 4 * k, 4 * k + 1, 4 * k + 2, 4 * k + 3, 4 * k, 4 * k + 1, 4 * k + 2, 4 * k + 3, 4 * k,    \
                          4 * k + 1, 4 * k + 2, 4 * k + 3, 4 * k, 4 * k + 1, 4 * k + 2, 4 * k + 3)
#define CAUSEWAY_MAT4_COLUMN(m, k)                                                                                     \
    CAUSEWAY_MAT4_SHUFFLE(m, k, 4 + k, 8 + k, 12 + k, k, 4 + k, 8 + k, 12 + k, k, 4 + k, 8 + k, 12 + k, k, 4 + k,      \
                          8 + k, 12 + k)
#define CAUSEWAY_MAT4_TRANSPOSED(m) CAUSEWAY_MAT4_SHUFFLE(m, 0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15)
#endif

#ifdef CAUSEWAY_SIMD_OPENCL
#define causeway_mat4_load(from) vload16(0, from)
#define causeway_mat4_store(m, to) vstore16(m, 0, to)
#else
/* `from` and `to` need not be aligned. */
CAUSEWAY_SIMD_FUNCTION causeway_mat4 causeway_mat4_load(const float* from) {
    causeway_mat4 m;
    __builtin_memcpy(&m, from, sizeof m);
    return m;
}
CAUSEWAY_SIMD_FUNCTION void causeway_mat4_store(causeway_mat4 m, float* to) { __builtin_memcpy(to, &m, sizeof m); }
#endif

CAUSEWAY_SIMD_FUNCTION causeway_mat4 causeway_mat4_transpose(causeway_mat4 m) { return CAUSEWAY_MAT4_TRANSPOSED(m); }

/* sum + a b, each element summed up from its first product to its last. */
CAUSEWAY_SIMD_FUNCTION causeway_mat4 causeway_mat4_add_product(causeway_mat4 sum, causeway_mat4 a, causeway_mat4 b) {
    sum = sum + CAUSEWAY_MAT4_ELEMENT(a, 0) * CAUSEWAY_MAT4_ROW(b, 0);
    sum = sum + CAUSEWAY_MAT4_ELEMENT(a, 1) * CAUSEWAY_MAT4_ROW(b, 1);
    sum = sum + CAUSEWAY_MAT4_ELEMENT(a, 2) * CAUSEWAY_MAT4_ROW(b, 2);
    return sum + CAUSEWAY_MAT4_ELEMENT(a, 3) * CAUSEWAY_MAT4_ROW(b, 3);
}

/* sum + a b^T */
CAUSEWAY_SIMD_FUNCTION causeway_mat4 causeway_mat4_add_product_by_transpose(causeway_mat4 sum, causeway_mat4 a,
                                                                            causeway_mat4 b) {
    sum = sum + CAUSEWAY_MAT4_ELEMENT(a, 0) * CAUSEWAY_MAT4_COLUMN(b, 0);
    sum = sum + CAUSEWAY_MAT4_ELEMENT(a, 1) * CAUSEWAY_MAT4_COLUMN(b, 1);
    sum = sum + CAUSEWAY_MAT4_ELEMENT(a, 2) * CAUSEWAY_MAT4_COLUMN(b, 2);
    return sum + CAUSEWAY_MAT4_ELEMENT(a, 3) * CAUSEWAY_MAT4_COLUMN(b, 3);
}

#ifdef CAUSEWAY_SIMD_OPENCL
#define CAUSEWAY_MAT4_ZERO ((causeway_mat4)(0.0f))
#else
#define CAUSEWAY_MAT4_ZERO ((causeway_mat4){0})
#endif

CAUSEWAY_SIMD_FUNCTION causeway_mat4 causeway_mat4_multiply(causeway_mat4 a, causeway_mat4 b) {
    return causeway_mat4_add_product(CAUSEWAY_MAT4_ZERO, a, b);
}

CAUSEWAY_SIMD_FUNCTION causeway_mat4 causeway_mat4_multiply_by_transpose(causeway_mat4 a, causeway_mat4 b) {
    return causeway_mat4_add_product_by_transpose(CAUSEWAY_MAT4_ZERO, a, b);
}

/* The two products of the paper's Algorithm 4, which share their loads: x = a^T b, and y = (a^T b^T)^T = b a. */
CAUSEWAY_SIMD_FUNCTION void causeway_mat4_pair(causeway_mat4 a, causeway_mat4 b, causeway_mat4* x, causeway_mat4* y) {
    *x = causeway_mat4_multiply(causeway_mat4_transpose(a), b);
    *y = causeway_mat4_multiply(b, a);
}

#endif
