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

#include "rows_table.h"
