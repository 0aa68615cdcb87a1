// SPDX-License-Identifier: Apache-2.0
// ../matrices.c by intrinsics, the fastest of the forms that were tried for each operation: of AVX-512, or of AVX2.
#include "../problem.h"

#include <immintrin.h>

enum { batch = 64 };

#define OPERATION(name, T, ...)                                                                                        \
    static void name##_##T(void* restrict c_, void* restrict d_, const void* restrict a_, const void* restrict b_,     \
                           long n) {                                                                                   \
        (void)n;                                                                                                       \
        for (int m = 0; m < batch; ++m) {                                                                              \
            T *c = (T*)c_ + 16 * m, *d = (T*)d_ + 16 * m;                                                              \
            const T *a = (const T*)a_ + 16 * m, *b = (const T*)b_ + 16 * m;                                            \
            (void)c, (void)d, (void)a, (void)b;                                                                        \
            __VA_ARGS__                                                                                                \
        }                                                                                                              \
    }

#ifdef __AVX512VL__
// A matrix of floats in one register, one of doubles in two: the elements of column k along the rows of `a`, times row
// k of `b` in each of them.
typedef __m512d wide_rows[4];

static inline __m512 product_f(__m512 sum, __m512 a, __m512 b0, __m512 b1, __m512 b2, __m512 b3) {
    sum = _mm512_fmadd_ps(_mm512_permute_ps(a, 0x00), b0, sum);
    sum = _mm512_fmadd_ps(_mm512_permute_ps(a, 0x55), b1, sum);
    sum = _mm512_fmadd_ps(_mm512_permute_ps(a, 0xaa), b2, sum);
    return _mm512_fmadd_ps(_mm512_permute_ps(a, 0xff), b3, sum);
}
static inline __m512 row_f(const float* b, int k) { return _mm512_broadcast_f32x4(_mm_loadu_ps(b + 4 * k)); }
static inline __m512 by_rows_f(__m512 sum, __m512 a, const float* b) {
    return product_f(sum, a, row_f(b, 0), row_f(b, 1), row_f(b, 2), row_f(b, 3));
}
static inline __m512 transposed_f(const float* a) {
    return _mm512_permutexvar_ps(_mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15),
                                 _mm512_loadu_ps(a));
}
static inline __m512d product_d(__m512d sum, __m512d a, wide_rows b) {
    sum = _mm512_fmadd_pd(_mm512_permutex_pd(a, 0x00), b[0], sum);
    sum = _mm512_fmadd_pd(_mm512_permutex_pd(a, 0x55), b[1], sum);
    sum = _mm512_fmadd_pd(_mm512_permutex_pd(a, 0xaa), b[2], sum);
    return _mm512_fmadd_pd(_mm512_permutex_pd(a, 0xff), b[3], sum);
}
static inline void rows_d(const double* b, wide_rows rows) {
    for (int k = 0; k < 4; ++k) rows[k] = _mm512_broadcast_f64x4(_mm256_loadu_pd(b + 4 * k));
}
static inline void transposed_d(const double* a, __m512d* low, __m512d* high) {
    const __m512d a01 = _mm512_loadu_pd(a), a23 = _mm512_loadu_pd(a + 8);
    *low = _mm512_permutex2var_pd(a01, _mm512_setr_epi64(0, 4, 8, 12, 1, 5, 9, 13), a23);
    *high = _mm512_permutex2var_pd(a01, _mm512_setr_epi64(2, 6, 10, 14, 3, 7, 11, 15), a23);
}
static inline void store_product_d(double* c, __m512d sum0, __m512d sum1, __m512d a01, __m512d a23, wide_rows b) {
    _mm512_storeu_pd(c, product_d(sum0, a01, b));
    _mm512_storeu_pd(c + 8, product_d(sum1, a23, b));
}

OPERATION(product, float, _mm512_storeu_ps(c, by_rows_f(_mm512_setzero_ps(), _mm512_loadu_ps(a), b));)
OPERATION(by_transpose, float, {
    const __m512 t = transposed_f(b);
    _mm512_storeu_ps(c, product_f(_mm512_setzero_ps(), _mm512_loadu_ps(a), _mm512_shuffle_f32x4(t, t, 0x00),
                                  _mm512_shuffle_f32x4(t, t, 0x55), _mm512_shuffle_f32x4(t, t, 0xaa),
                                  _mm512_shuffle_f32x4(t, t, 0xff)));
})
OPERATION(add_product, float, _mm512_storeu_ps(c, by_rows_f(_mm512_loadu_ps(c), _mm512_loadu_ps(a), b));)
OPERATION(transpose, float, _mm512_storeu_ps(c, transposed_f(a));)
OPERATION(pair, float, {
    _mm512_storeu_ps(c, by_rows_f(_mm512_setzero_ps(), transposed_f(a), b));
    _mm512_storeu_ps(d, by_rows_f(_mm512_setzero_ps(), _mm512_loadu_ps(b), a));
})

OPERATION(product, double, {
    wide_rows rows;
    rows_d(b, rows);
    const __m512d zero = _mm512_setzero_pd();
    store_product_d(c, zero, zero, _mm512_loadu_pd(a), _mm512_loadu_pd(a + 8), rows);
})
OPERATION(by_transpose, double, {
    __m512d low, high;
    transposed_d(b, &low, &high);
    wide_rows rows = {_mm512_shuffle_f64x2(low, low, 0x44), _mm512_shuffle_f64x2(low, low, 0xee),
                      _mm512_shuffle_f64x2(high, high, 0x44), _mm512_shuffle_f64x2(high, high, 0xee)};
    const __m512d zero = _mm512_setzero_pd();
    store_product_d(c, zero, zero, _mm512_loadu_pd(a), _mm512_loadu_pd(a + 8), rows);
})
OPERATION(add_product, double, {
    wide_rows rows;
    rows_d(b, rows);
    store_product_d(c, _mm512_loadu_pd(c), _mm512_loadu_pd(c + 8), _mm512_loadu_pd(a), _mm512_loadu_pd(a + 8), rows);
})
OPERATION(transpose, double, {
    __m512d low, high;
    transposed_d(a, &low, &high);
    _mm512_storeu_pd(c, low);
    _mm512_storeu_pd(c + 8, high);
})
OPERATION(pair, double, {
    const __m512d zero = _mm512_setzero_pd();
    __m512d low, high;
    transposed_d(a, &low, &high);
    wide_rows rows;
    rows_d(b, rows);
    store_product_d(c, zero, zero, low, high, rows);
    rows_d(a, rows);
    store_product_d(d, zero, zero, _mm512_loadu_pd(b), _mm512_loadu_pd(b + 8), rows);
})
#else
// Two rows of floats in a register, or one of doubles.
typedef __m256 pairs[2];  // rows 0 and 1, rows 2 and 3
typedef __m256 twice[4];  // each row, two times
typedef __m256d rows[4];

static inline __m256 product_f(__m256 sum, __m256 a, twice b) {
    sum = _mm256_fmadd_ps(_mm256_permute_ps(a, 0x00), b[0], sum);
    sum = _mm256_fmadd_ps(_mm256_permute_ps(a, 0x55), b[1], sum);
    sum = _mm256_fmadd_ps(_mm256_permute_ps(a, 0xaa), b[2], sum);
    return _mm256_fmadd_ps(_mm256_permute_ps(a, 0xff), b[3], sum);
}
static inline void twice_f(const float* b, twice rows_twice) {
    for (int k = 0; k < 4; ++k) rows_twice[k] = _mm256_broadcast_ps((const __m128*)(b + 4 * k));
}
static inline void transposed_f(const float* a, pairs t) {
    const __m256 a01 = _mm256_loadu_ps(a), a23 = _mm256_loadu_ps(a + 8);
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    t[0] = _mm256_permutevar8x32_ps(_mm256_unpacklo_ps(a01, a23), order);
    t[1] = _mm256_permutevar8x32_ps(_mm256_unpackhi_ps(a01, a23), order);
}
static inline void store_product_f(float* c, __m256 sum0, __m256 sum1, __m256 a01, __m256 a23, twice b) {
    _mm256_storeu_ps(c, product_f(sum0, a01, b));
    _mm256_storeu_ps(c + 8, product_f(sum1, a23, b));
}
static inline __m256d row_d(__m256d sum, const double* a, int step, const rows b) {
    for (int k = 0; k < 4; ++k) sum = _mm256_fmadd_pd(_mm256_broadcast_sd(a + step * k), b[k], sum);
    return sum;
}
static inline void rows_d(const double* b, rows r) {
    for (int k = 0; k < 4; ++k) r[k] = _mm256_loadu_pd(b + 4 * k);
}
// Halves are joined as they are read, which costs no shuffle.
static inline void transposed_d(const double* a, rows t) {
    __m256d half[2][2];
    for (int h = 0; h < 2; ++h)
        for (int odd = 0; odd < 2; ++odd)
            half[h][odd] = _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(a + 2 * h + 4 * odd)),
                                                _mm_loadu_pd(a + 2 * h + 4 * odd + 8), 1);
    for (int h = 0; h < 2; ++h) {
        t[2 * h] = _mm256_unpacklo_pd(half[h][0], half[h][1]);
        t[2 * h + 1] = _mm256_unpackhi_pd(half[h][0], half[h][1]);
    }
}

OPERATION(product, float, {
    twice b2;
    twice_f(b, b2);
    const __m256 zero = _mm256_setzero_ps();
    store_product_f(c, zero, zero, _mm256_loadu_ps(a), _mm256_loadu_ps(a + 8), b2);
})
OPERATION(by_transpose, float, {
    twice r, t;
    twice_f(b, r);
    const __m256 p0 = _mm256_unpacklo_ps(r[0], r[1]), p1 = _mm256_unpackhi_ps(r[0], r[1]);
    const __m256 p2 = _mm256_unpacklo_ps(r[2], r[3]), p3 = _mm256_unpackhi_ps(r[2], r[3]);
    t[0] = _mm256_shuffle_ps(p0, p2, 0x44), t[1] = _mm256_shuffle_ps(p0, p2, 0xee);
    t[2] = _mm256_shuffle_ps(p1, p3, 0x44), t[3] = _mm256_shuffle_ps(p1, p3, 0xee);
    const __m256 zero = _mm256_setzero_ps();
    store_product_f(c, zero, zero, _mm256_loadu_ps(a), _mm256_loadu_ps(a + 8), t);
})
OPERATION(add_product, float, {
    twice b2;
    twice_f(b, b2);
    store_product_f(c, _mm256_loadu_ps(c), _mm256_loadu_ps(c + 8), _mm256_loadu_ps(a), _mm256_loadu_ps(a + 8), b2);
})
OPERATION(transpose, float, {
    pairs t;
    transposed_f(a, t);
    _mm256_storeu_ps(c, t[0]);
    _mm256_storeu_ps(c + 8, t[1]);
})
OPERATION(pair, float, {
    const __m256 zero = _mm256_setzero_ps();
    pairs t;
    transposed_f(a, t);
    twice r;
    twice_f(b, r);
    store_product_f(c, zero, zero, t[0], t[1], r);
    twice_f(a, r);
    store_product_f(d, zero, zero, _mm256_loadu_ps(b), _mm256_loadu_ps(b + 8), r);
})

OPERATION(product, double, {
    rows r;
    rows_d(b, r);
    for (int i = 0; i < 4; ++i) _mm256_storeu_pd(c + 4 * i, row_d(_mm256_setzero_pd(), a + 4 * i, 1, r));
})
OPERATION(by_transpose, double, {
    rows t;
    transposed_d(b, t);
    for (int i = 0; i < 4; ++i) _mm256_storeu_pd(c + 4 * i, row_d(_mm256_setzero_pd(), a + 4 * i, 1, t));
})
OPERATION(add_product, double, {
    rows r;
    rows_d(b, r);
    for (int i = 0; i < 4; ++i) _mm256_storeu_pd(c + 4 * i, row_d(_mm256_loadu_pd(c + 4 * i), a + 4 * i, 1, r));
})
OPERATION(transpose, double, {
    rows t;
    transposed_d(a, t);
    for (int i = 0; i < 4; ++i) _mm256_storeu_pd(c + 4 * i, t[i]);
})
OPERATION(pair, double, {
    rows r;
    rows_d(b, r);
    for (int i = 0; i < 4; ++i) _mm256_storeu_pd(c + 4 * i, row_d(_mm256_setzero_pd(), a + i, 4, r));
    rows_d(a, r);
    for (int i = 0; i < 4; ++i) _mm256_storeu_pd(d + 4 * i, row_d(_mm256_setzero_pd(), b + 4 * i, 1, r));
})
#endif

#include "../matrices_table.h"
