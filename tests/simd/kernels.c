// SPDX-License-Identifier: Apache-2.0
// Loops of every kind that the plug-in may meet. Compiled twice: without optimisation, and with the plug-in.
// Each works on `n` elements of `c`, `a` and `b`; what goes past them, faults.
#include "kernels.h"

#include <math.h>
#include <stdlib.h>

#define KERNEL(name) static void name(void* c_, const void* a_, const void* b_, long n)
#define RESTRICTED(T)                                                                                                  \
    T* restrict c = c_;                                                                                                \
    const T* restrict a = a_, * restrict b = b_;                                                                       \
    (void)c, (void)a, (void)b
#define MAYBE_ALIASED(T)                                                                                               \
    T* c = c_;                                                                                                         \
    const T *a = a_, *b = b_;                                                                                          \
    (void)c, (void)a, (void)b

// Loops whose length is known at run time.
#define RUN_TIME_LOOPS(T)                                                                                              \
    KERNEL(add_##T) {                                                                                                  \
        RESTRICTED(T);                                                                                                 \
        for (long i = 0; i < n; ++i) c[i] = a[i] + b[i];                                                               \
    }                                                                                                                  \
    KERNEL(add_int_counter_##T) {                                                                                      \
        RESTRICTED(T);                                                                                                 \
        for (int i = 0; i < (int)n; ++i) c[i] = a[i] + b[i];                                                           \
    }                                                                                                                  \
    KERNEL(add_unsigned_counter_##T) {                                                                                 \
        MAYBE_ALIASED(T);                                                                                              \
        for (unsigned i = 0; i < (unsigned)n; ++i) c[i] = a[i] + b[i];                                                 \
    }                                                                                                                  \
    KERNEL(add_byte_counter_##T) {                                                                                     \
        RESTRICTED(T);                                                                                                 \
        for (unsigned char i = 0; i < (unsigned char)n; ++i) c[i] = a[i] + b[i];                                       \
    }                                                                                                                  \
    KERNEL(from_two_##T) {                                                                                             \
        MAYBE_ALIASED(T);                                                                                              \
        for (long i = 2; i < n; ++i) c[i] = a[i] - b[i];                                                               \
    }                                                                                                                  \
    KERNEL(walk_##T) {                                                                                                 \
        MAYBE_ALIASED(T);                                                                                              \
        while (n-- > 0) *c++ = *a++ * *b++;                                                                            \
    }                                                                                                                  \
    KERNEL(two_loops_##T) {                                                                                            \
        RESTRICTED(T);                                                                                                 \
        for (long i = 0; i < n; ++i) c[i] = a[i] + b[i];                                                               \
        for (long i = 0; i < n; ++i) c[i] = c[i] * 3 - a[i];                                                           \
    }                                                                                                                  \
    KERNEL(copy_down_##T) {                                                                                            \
        MAYBE_ALIASED(T);                                                                                              \
        unsigned left = (unsigned)n;                                                                                   \
        if (left > 0) do                                                                                               \
                *c++ = *a++;                                                                                           \
            while (--left);                                                                                            \
    }                                                                                                                  \
    KERNEL(at_least_once_##T) {                                                                                        \
        RESTRICTED(T);                                                                                                 \
        long i = 0;                                                                                                    \
        if (n > 0) do                                                                                                  \
                c[i] = a[i] * 3 + b[i];                                                                                \
            while (++i < n);                                                                                           \
    }                                                                                                                  \
    KERNEL(scale_in_place_##T) {                                                                                       \
        MAYBE_ALIASED(T);                                                                                              \
        for (long i = 0; i < n; ++i) c[i] += 3 * a[i];                                                                 \
    }                                                                                                                  \
    KERNEL(in_place_alone_##T) {                                                                                       \
        T* c = c_;                                                                                                     \
        (void)a_, (void)b_;                                                                                            \
        for (long i = 0; i < n; ++i) c[i] = c[i] * c[i] + 1;                                                           \
    }                                                                                                                  \
    KERNEL(overlapping_##T) {                                                                                          \
        T* c = c_;                                                                                                     \
        T* d = c + 1;                                                                                                  \
        (void)a_, (void)b_;                                                                                            \
        for (long i = 0; i < n - 1; ++i) d[i] = c[i] + 1;                                                              \
    }                                                                                                                  \
    KERNEL(distance_sixteen_##T) {                                                                                     \
        T* c = c_;                                                                                                     \
        const T* a = a_;                                                                                               \
        (void)b_;                                                                                                      \
        for (long i = 16; i < n; ++i) c[i] = c[i - 16] + a[i];                                                         \
    }                                                                                                                  \
    KERNEL(distance_five_##T) {                                                                                        \
        T* c = c_;                                                                                                     \
        const T* a = a_;                                                                                               \
        (void)b_;                                                                                                      \
        for (long i = 5; i < n; ++i) c[i] = c[i - 5] + a[i];                                                           \
    }                                                                                                                  \
    KERNEL(reversed_##T) {                                                                                             \
        RESTRICTED(T);                                                                                                 \
        for (long i = 0; i < n; ++i) c[i] = a[n - 1 - i];                                                              \
    }                                                                                                                  \
    KERNEL(downwards_##T) {                                                                                            \
        RESTRICTED(T);                                                                                                 \
        for (long i = n - 1; i >= 0; --i) c[i] = a[i] + b[i];                                                          \
    }                                                                                                                  \
    KERNEL(condition_##T) {                                                                                            \
        RESTRICTED(T);                                                                                                 \
        for (long i = 0; i < n; ++i)                                                                                   \
            if (a[i] > b[i]) c[i] = a[i];                                                                              \
    }                                                                                                                  \
    KERNEL(either_##T) {                                                                                               \
        MAYBE_ALIASED(T);                                                                                              \
        for (long i = 0; i < n; ++i) {                                                                                 \
            if (a[i] > 3)                                                                                              \
                c[i] = b[i];                                                                                           \
            else                                                                                                       \
                c[i] = a[i];                                                                                           \
        }                                                                                                              \
    }                                                                                                                  \
    KERNEL(neighbours_##T) {                                                                                           \
        RESTRICTED(T);                                                                                                 \
        for (long i = 0; i + 1 < n; ++i) c[i] = a[i] + a[i + 1];                                                       \
    }                                                                                                                  \
    KERNEL(one_factor_##T) {                                                                                           \
        MAYBE_ALIASED(T);                                                                                              \
        for (long i = 0; i < n; ++i) c[i] = a[i] * b[0];                                                               \
    }                                                                                                                  \
    KERNEL(constant_##T) {                                                                                             \
        T* c = c_;                                                                                                     \
        (void)a_, (void)b_;                                                                                            \
        for (long i = 0; i < n; ++i) c[i] = 7;                                                                         \
    }                                                                                                                  \
    KERNEL(counted_##T) {                                                                                              \
        T* c = c_;                                                                                                     \
        (void)a_, (void)b_;                                                                                            \
        for (int i = 0; i < n; ++i) c[i] = (T)(i * 3);                                                                 \
    }                                                                                                                  \
    KERNEL(halves_##T) {                                                                                               \
        RESTRICTED(T);                                                                                                 \
        for (long i = 0; i < n / 2; ++i) c[i] = a[2 * i] + b[2 * i + 1];                                               \
    }                                                                                                                  \
    KERNEL(every_third_##T) {                                                                                          \
        RESTRICTED(T);                                                                                                 \
        for (long i = 0; i < n; i += 3) c[i] = a[i];                                                                   \
    }                                                                                                                  \
    KERNEL(two_stores_##T) {                                                                                           \
        T* restrict c = c_;                                                                                            \
        T* restrict d = (T*)b_;                                                                                        \
        const T* restrict a = a_;                                                                                      \
        for (long i = 0; i < n; ++i) {                                                                                 \
            c[i] = a[i];                                                                                               \
            d[i] = a[i] + 1;                                                                                           \
        }                                                                                                              \
    }                                                                                                                  \
    KERNEL(sum_##T) {                                                                                                  \
        RESTRICTED(T);                                                                                                 \
        T s = 5;                                                                                                       \
        for (long i = 0; i < n; ++i) s += a[i];                                                                        \
        if (n) c[0] = s;                                                                                               \
    }                                                                                                                  \
    KERNEL(product_sum_##T) {                                                                                          \
        RESTRICTED(T);                                                                                                 \
        T s = 0;                                                                                                       \
        for (long i = 0; i < n; ++i) s += a[i] * b[i];                                                                 \
        if (n) c[0] = s;                                                                                               \
    }                                                                                                                  \
    KERNEL(largest_##T) {                                                                                              \
        RESTRICTED(T);                                                                                                 \
        T m = 0;                                                                                                       \
        for (long i = 0; i < n; ++i) m = a[i] > m ? a[i] : m;                                                          \
        if (n) c[0] = m;                                                                                               \
    }                                                                                                                  \
    KERNEL(conditional_sum_##T) {                                                                                      \
        RESTRICTED(T);                                                                                                 \
        T s = 0;                                                                                                       \
        for (long i = 0; i < n; ++i)                                                                                   \
            if (a[i] > 2) s += b[i];                                                                                   \
        if (n) c[0] = s;                                                                                               \
    }                                                                                                                  \
    KERNEL(last_##T) {                                                                                                 \
        RESTRICTED(T);                                                                                                 \
        T last = 1;                                                                                                    \
        for (long i = 0; i < n; ++i) {                                                                                 \
            last = a[i] + 1;                                                                                           \
            c[i] = last;                                                                                               \
        }                                                                                                              \
        if (n) c[0] = last;                                                                                            \
    }                                                                                                                  \
    KERNEL(before_##T) {                                                                                               \
        RESTRICTED(T);                                                                                                 \
        T before = 1;                                                                                                  \
        for (long i = 0; i < n; ++i) {                                                                                 \
            c[i] = a[i] + before;                                                                                      \
            before = a[i];                                                                                             \
        }                                                                                                              \
    }                                                                                                                  \
    KERNEL(index_after_##T) {                                                                                          \
        RESTRICTED(T);                                                                                                 \
        long i;                                                                                                        \
        for (i = 0; i < n; ++i) c[i] = a[i];                                                                           \
        if (n) c[0] = (T)i;                                                                                            \
    }                                                                                                                  \
    KERNEL(until_##T) {                                                                                                \
        RESTRICTED(T);                                                                                                 \
        for (long i = 0; i < n; ++i) {                                                                                 \
            if (a[i] == 9) break;                                                                                      \
            c[i] = a[i];                                                                                               \
        }                                                                                                              \
    }                                                                                                                  \
    KERNEL(volatile_##T) {                                                                                             \
        volatile T* c = c_;                                                                                            \
        const T* a = a_;                                                                                               \
        (void)b_;                                                                                                      \
        for (long i = 0; i < n; ++i) c[i] = a[i];                                                                      \
    }                                                                                                                  \
    KERNEL(atomic_##T) {                                                                                               \
        T* c = c_;                                                                                                     \
        const T* a = a_;                                                                                               \
        (void)b_;                                                                                                      \
        for (long i = 0; i < n; ++i) {                                                                                 \
            T v = a[i];                                                                                                \
            __atomic_store(&c[i], &v, __ATOMIC_RELAXED);                                                               \
        }                                                                                                              \
    }                                                                                                                  \
    KERNEL(rows_##T) {                                                                                                 \
        RESTRICTED(T);                                                                                                 \
        long w = n < 8 ? 1 : n / 8;                                                                                    \
        for (long r = 0; r < n / w; ++r)                                                                               \
            for (long i = 0; i < w; ++i) c[r * w + i] = a[r * w + i] + b[i];                                           \
    }                                                                                                                  \
    KERNEL(five_rows_##T) {                                                                                            \
        RESTRICTED(T);                                                                                                 \
        const long w = n / 5;                                                                                          \
        for (int r = 0; r < 5; ++r)                                                                                    \
            for (long i = w - 1; i >= 0; --i)                                                                          \
                if (a[r * w + i] > 1) c[r * w + i] = a[r * w + i] * b[i];                                              \
    }                                                                                                                  \
    KERNEL(sum_of_rows_##T) {                                                                                          \
        RESTRICTED(T);                                                                                                 \
        const long w = n % 71 + 1;                                                                                     \
        for (long r = 0; r < n / w; ++r) {                                                                             \
            T s = (T)r;                                                                                                \
            for (long i = 0; i < w; ++i) s += a[r * w + i] * b[i];                                                     \
            c[r] = s;                                                                                                  \
        }                                                                                                              \
    }

#define INTEGER_LOOPS(T)                                                                                               \
    KERNEL(bits_##T) {                                                                                                 \
        RESTRICTED(T);                                                                                                 \
        T x = 0, y = -1;                                                                                               \
        for (long i = 0; i < n; ++i) {                                                                                 \
            x ^= a[i];                                                                                                 \
            y &= b[i] | 4;                                                                                             \
        }                                                                                                              \
        if (n) c[0] = x + y;                                                                                           \
    }                                                                                                                  \
    KERNEL(divide_##T) {                                                                                               \
        RESTRICTED(T);                                                                                                 \
        for (long i = 0; i < n; ++i) c[i] = a[i] / (b[i] == 0 ? 1 : b[i]);                                             \
    }                                                                                                                  \
    KERNEL(shift_##T) {                                                                                                \
        RESTRICTED(T);                                                                                                 \
        for (long i = 0; i < n; ++i) c[i] = (T)(a[i] << 2) >> 1;                                                       \
    }

#define FLOATING_LOOPS(T)                                                                                              \
    KERNEL(root_##T) {                                                                                                 \
        RESTRICTED(T);                                                                                                 \
        for (long i = 0; i < n; ++i) c[i] = (T)sqrt((double)fabs((double)a[i]));                                       \
    }                                                                                                                  \
    KERNEL(divide_##T) {                                                                                               \
        RESTRICTED(T);                                                                                                 \
        for (long i = 0; i < n; ++i) c[i] = a[i] / b[i];                                                               \
    }                                                                                                                  \
    KERNEL(call_##T) {                                                                                                 \
        RESTRICTED(T);                                                                                                 \
        for (long i = 0; i < n; ++i) c[i] = (T)sin((double)a[i]);                                                      \
    }

#define MIXED_LOOPS(T, U)                                                                                              \
    KERNEL(convert_##T##_##U) {                                                                                        \
        T* restrict c = c_;                                                                                            \
        const U* restrict a = a_;                                                                                      \
        (void)b_;                                                                                                      \
        for (long i = 0; i < n; ++i) c[i] = (T)a[i];                                                                   \
    }                                                                                                                  \
    KERNEL(both_##T##_##U) {                                                                                           \
        MAYBE_ALIASED(T);                                                                                              \
        const U* u = b_;                                                                                               \
        for (long i = 0; i < n; ++i) c[i] = a[i] + (T)u[i];                                                            \
    }

// Loops of N iterations.
#define CONSTANT_LOOPS(T, N)                                                                                           \
    KERNEL(add_##T##_##N) {                                                                                            \
        RESTRICTED(T);                                                                                                 \
        (void)n;                                                                                                       \
        for (int i = 0; i < N; ++i) c[i] = a[i] + b[i];                                                                \
    }                                                                                                                  \
    KERNEL(scale_##T##_##N) {                                                                                          \
        MAYBE_ALIASED(T);                                                                                              \
        (void)n;                                                                                                       \
        for (int i = 0; i < N; ++i) c[i] += a[i] * b[0];                                                               \
    }                                                                                                                  \
    KERNEL(condition_##T##_##N) {                                                                                      \
        MAYBE_ALIASED(T);                                                                                              \
        (void)n;                                                                                                       \
        for (int i = 0; i < N; ++i)                                                                                    \
            if (a[i] > b[i]) c[i] = b[i];                                                                              \
    }                                                                                                                  \
    KERNEL(sum_##T##_##N) {                                                                                            \
        RESTRICTED(T);                                                                                                 \
        (void)n;                                                                                                       \
        T s = 0;                                                                                                       \
        for (int i = 0; i < N; ++i) s += a[i] * b[i];                                                                  \
        c[0] = s;                                                                                                      \
    }                                                                                                                  \
    KERNEL(overlapping_##T##_##N) {                                                                                    \
        T* c = c_;                                                                                                     \
        T* d = c + 1;                                                                                                  \
        (void)a_, (void)b_, (void)n;                                                                                   \
        for (int i = 0; i < N - 1; ++i) d[i] = c[i] + 1;                                                               \
    }

#include "kernel_list.h"

#define RUN_TIME_ROW(T)                                                                                                \
    ROW(add_##T, T), ROW(add_int_counter_##T, T), ROW(add_unsigned_counter_##T, T), ROW(add_byte_counter_##T, T),      \
        ROW(from_two_##T, T), ROW(walk_##T, T), ROW(two_loops_##T, T), ROW(copy_down_##T, T),                          \
        ROW(at_least_once_##T, T), ROW(scale_in_place_##T, T), ROW(in_place_alone_##T, T), ROW(overlapping_##T, T),    \
        ROW(distance_sixteen_##T, T), ROW(distance_five_##T, T), ROW(reversed_##T, T), ROW(downwards_##T, T),          \
        ROW(condition_##T, T), ROW(either_##T, T), ROW(neighbours_##T, T), ROW(one_factor_##T, T),                     \
        ROW(constant_##T, T), ROW(counted_##T, T), ROW(halves_##T, T), ROW(every_third_##T, T),                        \
        ROW(two_stores_##T, T), ROW(sum_##T, T), ROW(product_sum_##T, T), ROW(largest_##T, T),                         \
        ROW(conditional_sum_##T, T), ROW(last_##T, T), ROW(before_##T, T), ROW(index_after_##T, T), ROW(until_##T, T), \
        ROW(volatile_##T, T), ROW(atomic_##T, T), ROW(rows_##T, T), ROW(five_rows_##T, T), ROW(sum_of_rows_##T, T),
#define INTEGER_ROW(T) ROW(bits_##T, T), ROW(divide_##T, T), ROW(shift_##T, T),
#define FLOATING_ROW(T) ROW(root_##T, T), ROW(divide_##T, T), ROW(call_##T, T),
#define MIXED_ROW(T, U)                                                                                                \
    {"convert_" #T "_" #U, convert_##T##_##U, sizeof(T), sizeof(U), sizeof(T), type_of_##T, 0},                        \
        {"both_" #T "_" #U, both_##T##_##U, sizeof(T), sizeof(T), sizeof(U), type_of_##T, 0},
#define CONSTANT_ROW(T, N)                                                                                             \
    CONSTANT(add_##T##_##N, T, N), CONSTANT(scale_##T##_##N, T, N), CONSTANT(condition_##T##_##N, T, N),               \
        {"sum_" #T "_" #N, sum_##T##_##N, sizeof(T), sizeof(T), sizeof(T), type_of_##T, N},                            \
        CONSTANT(overlapping_##T##_##N, T, N),
#define ROW(f, T) {#f, f, sizeof(T), sizeof(T), sizeof(T), type_of_##T, 0}
#define CONSTANT(f, T, N) {#f, f, sizeof(T), sizeof(T), sizeof(T), type_of_##T, N}

const struct kernel TABLE[] = {
#undef EACH
#define EACH(what, ...) what##_ROW(__VA_ARGS__)
#define ROWS
#include "kernel_list.h"
    {0, 0, 0, 0, 0, 0, 0}};
