// SPDX-License-Identifier: Apache-2.0
// Rows of a matrix in the nearest cache, each a short loop: the paper's intAdd, floatAdd and doubleAdd, and run-time
// lengths.
#include "problem.h"

enum { rows = 16, pitch = 64 }; // 24 KiB of doubles

/* clang-format off */
#define FIXED(T, N)                                                                                                    \
    static void T##_##N(void *restrict c_, void *d, const void *restrict a_, const void *restrict b_, long n) {        \
        T *c = c_;                                                                                                     \
        const T *a = a_, *b = b_;                                                                                      \
        (void)d, (void)n;                                                                                              \
        for (int r = 0; r < rows; ++r)                                                                                 \
            for (int i = 0; i < N; ++i)                                                                                \
                c[r * pitch + i] = a[r * pitch + i] + b[r * pitch + i];                                                \
    }
#define FREE(T)                                                                                                        \
    static void T##_n(void *restrict c_, void *d, const void *restrict a_, const void *restrict b_, long n) {          \
        T *c = c_;                                                                                                     \
        const T *a = a_, *b = b_;                                                                                      \
        (void)d;                                                                                                       \
        for (int r = 0; r < rows; ++r)                                                                                 \
            for (long i = 0; i < n; ++i)                                                                               \
                c[r * pitch + i] = a[r * pitch + i] + b[r * pitch + i];                                                \
    }                                                                                                                  \
    static void T##_long(void *restrict c_, void *d, const void *restrict a_, const void *restrict b_, long n) {       \
        T *c = c_;                                                                                                     \
        const T *a = a_, *b = b_;                                                                                      \
        (void)d;                                                                                                       \
        for (long i = 0; i < n; ++i)                                                                                   \
            c[i] = a[i] + b[i];                                                                                        \
    }                                                                                                                  \
    static void T##_dot(void *restrict c_, void *d, const void *restrict a_, const void *restrict b_, long n) {        \
        T *c = c_;                                                                                                     \
        const T *a = a_, *b = b_;                                                                                      \
        (void)d;                                                                                                       \
        T s = 0;                                                                                                       \
        for (long i = 0; i < n; ++i)                                                                                   \
            s += a[i] * b[i];                                                                                          \
        c[0] = s;                                                                                                      \
    }
/* clang-format on */
#define ALL(T) FIXED(T, 7) FIXED(T, 13) FIXED(T, 15) FIXED(T, 23) FIXED(T, 31) FREE(T)
ALL(int)
ALL(float)
ALL(double)

#define FIXED_ROW(T, N) {"constant rows", #T " " #N, T##_##N, N, rows},
#define FREE_ROW(T, N) {"run-time rows", #T " n = " #N, T##_n, N, rows},
/* clang-format off */
#define ALL_ROWS(T)                                                                                                    \
    FIXED_ROW(T, 7) FIXED_ROW(T, 13) FIXED_ROW(T, 15) FIXED_ROW(T, 23) FIXED_ROW(T, 31)                                \
    FREE_ROW(T, 7) FREE_ROW(T, 15) FREE_ROW(T, 31) FREE_ROW(T, 47) FREE_ROW(T, 63)                                     \
    {"n = 1000", #T " n = 1000", T##_long, 1000, 1}, {"dot, n = 63", #T " dot, n = 63", T##_dot, 63, 1},               \
    {"dot, n = 1000", #T " dot, n = 1000", T##_dot, 1000, 1},
/* clang-format on */
const struct kernel kernels[] = {ALL_ROWS(int) ALL_ROWS(float) ALL_ROWS(double){0, 0, 0, 0, 0}};
