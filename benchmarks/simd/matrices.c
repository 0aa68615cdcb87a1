// SPDX-License-Identifier: Apache-2.0
// Products of 4 x 4 matrices, 64 in the nearest cache, as a programmer writes them: the paper's Algorithms 3 and 4.
#include "problem.h"

enum { batch = 64 };

#define OPERATION(T, name, ...)                                                                                        \
    static void name##_##T(void* restrict c_, void* restrict d_, const void* restrict a_, const void* restrict b_,     \
                           long n) {                                                                                   \
        (void)n;                                                                                                       \
        for (int m = 0; m < batch; ++m) {                                                                              \
            T(*restrict c)[4] = (T(*)[4])c_ + 4 * m, (*restrict d)[4] = (T(*)[4])d_ + 4 * m;                           \
            const T(*a)[4] = (const T(*)[4])a_ + 4 * m, (*b)[4] = (const T(*)[4])b_ + 4 * m;                           \
            (void)c, (void)d, (void)a, (void)b;                                                                        \
            for (int i = 0; i < 4; ++i)                                                                                \
                for (int j = 0; j < 4; ++j) __VA_ARGS__                                                                \
        }                                                                                                              \
    }
#define ALL(T)                                                                                                         \
    OPERATION(T, product, {                                                                                            \
        T s = 0;                                                                                                       \
        for (int k = 0; k < 4; ++k) s += a[i][k] * b[k][j];                                                            \
        c[i][j] = s;                                                                                                   \
    })                                                                                                                 \
    OPERATION(T, by_transpose, {                                                                                       \
        T s = 0;                                                                                                       \
        for (int k = 0; k < 4; ++k) s += a[i][k] * b[j][k];                                                            \
        c[i][j] = s;                                                                                                   \
    })                                                                                                                 \
    OPERATION(T, add_product, {                                                                                        \
        T s = c[i][j];                                                                                                 \
        for (int k = 0; k < 4; ++k) s += a[i][k] * b[k][j];                                                            \
        c[i][j] = s;                                                                                                   \
    })                                                                                                                 \
    OPERATION(T, transpose, { c[i][j] = a[j][i]; })                                                                    \
    OPERATION(T, pair, {                                                                                               \
        T x = 0, y = 0;                                                                                                \
        for (int k = 0; k < 4; ++k) {                                                                                  \
            x += a[k][i] * b[k][j];                                                                                    \
            y += a[k][i] * b[j][k];                                                                                    \
        }                                                                                                              \
        c[i][j] = x;                                                                                                   \
        d[j][i] = y;                                                                                                   \
    })
ALL(float)
ALL(double)

#include "matrices_table.h"
