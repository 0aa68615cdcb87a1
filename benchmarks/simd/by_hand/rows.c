// SPDX-License-Identifier: Apache-2.0
// ../rows.c by intrinsics: masks made once, whole vectors and a masked one. Sums are of four vectors side by side.
#include "../problem.h"
#include "vectors.h"

enum { rows = 16, pitch = 64 };

/* clang-format off */
#define ROW(T, n, mask)                                                                                                \
    {                                                                                                                  \
        long i = 0;                                                                                                    \
        for (; i + lanes_##T <= (n); i += lanes_##T)                                                                   \
            store_##T(c + i, add_##T(load_##T(a + i), load_##T(b + i)));                                               \
        if (i < (n))                                                                                                   \
            masked_store_##T(c + i, mask, add_##T(masked_load_##T(mask, a + i), masked_load_##T(mask, b + i)));        \
    }
#define KERNEL(T, name, ...)                                                                                           \
    static void T##_##name(void *restrict c_, void *d, const void *restrict a_, const void *restrict b_, long n) {     \
        T *c = c_;                                                                                                     \
        const T *a = a_, *b = b_;                                                                                      \
        (void)d, (void)n;                                                                                              \
        __VA_ARGS__                                                                                                    \
    }
#define ROWS(T, n)                                                                                                     \
    const MASK_##T mask = first_##T((n) % lanes_##T);                                                                  \
    for (int r = 0; r < rows; ++r, a += pitch, b += pitch, c += pitch) ROW(T, n, mask)
#define FIXED(T, N) KERNEL(T, N, ROWS(T, N))
#define FREE(T)                                                                                                        \
    KERNEL(T, n, ROWS(T, n))                                                                                           \
    KERNEL(T, long, {                                                                                                  \
        const MASK_##T mask = first_##T(n % lanes_##T);                                                                \
        ROW(T, n, mask)                                                                                                \
    })                                                                                                                 \
    KERNEL(T, dot, {                                                                                                   \
        VECTOR_##T s0 = zero_##T, s1 = s0, s2 = s0, s3 = s0;                                                           \
        long i = 0;                                                                                                    \
        for (; i + 4 * lanes_##T <= n; i += 4 * lanes_##T) {                                                           \
            s0 = add_product_##T(load_##T(a + i), load_##T(b + i), s0);                                                \
            s1 = add_product_##T(load_##T(a + i + lanes_##T), load_##T(b + i + lanes_##T), s1);                        \
            s2 = add_product_##T(load_##T(a + i + 2 * lanes_##T), load_##T(b + i + 2 * lanes_##T), s2);                \
            s3 = add_product_##T(load_##T(a + i + 3 * lanes_##T), load_##T(b + i + 3 * lanes_##T), s3);                \
        }                                                                                                              \
        for (; i + lanes_##T <= n; i += lanes_##T) s0 = add_product_##T(load_##T(a + i), load_##T(b + i), s0);         \
        const MASK_##T mask = first_##T(n - i);                                                                        \
        s1 = add_product_##T(masked_load_##T(mask, a + i), masked_load_##T(mask, b + i), s1);                          \
        c[0] = sum_##T(add_##T(add_##T(s0, s1), add_##T(s2, s3)));                                                     \
    })
#define ALL(T) FIXED(T, 7) FIXED(T, 13) FIXED(T, 15) FIXED(T, 23) FIXED(T, 31) FREE(T)
/* clang-format on */
ALL(int)
ALL(float)
ALL(double)

#include "../rows_table.h"
