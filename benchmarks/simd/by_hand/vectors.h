// SPDX-License-Identifier: Apache-2.0
// Common names for the intrinsics of AVX-512 and AVX2 that the kernels by hand use: vectors of int, float and double,
// and masks that select their first lanes.
#pragma once

#include <immintrin.h>

/* clang-format off */
#ifdef __AVX512F__
#define VECTOR_int __m512i
#define VECTOR_float __m512
#define VECTOR_double __m512d
#define MASK_int __mmask16
#define MASK_float __mmask16
#define MASK_double __mmask8
enum { lanes_int = 16, lanes_float = 16, lanes_double = 8 };

#define first_int(count) ((__mmask16)_bzhi_u32(~0u, (unsigned)(count)))
#define first_float(count) ((__mmask16)_bzhi_u32(~0u, (unsigned)(count)))
#define first_double(count) ((__mmask8)_bzhi_u32(~0u, (unsigned)(count)))
#define load_int(from) _mm512_loadu_si512(from)
#define load_float(from) _mm512_loadu_ps(from)
#define load_double(from) _mm512_loadu_pd(from)
#define store_int(to, v) _mm512_storeu_si512(to, v)
#define store_float(to, v) _mm512_storeu_ps(to, v)
#define store_double(to, v) _mm512_storeu_pd(to, v)
#define masked_load_int(mask, from) _mm512_maskz_loadu_epi32(mask, from)
#define masked_load_float(mask, from) _mm512_maskz_loadu_ps(mask, from)
#define masked_load_double(mask, from) _mm512_maskz_loadu_pd(mask, from)
#define masked_store_int(to, mask, v) _mm512_mask_storeu_epi32(to, mask, v)
#define masked_store_float(to, mask, v) _mm512_mask_storeu_ps(to, mask, v)
#define masked_store_double(to, mask, v) _mm512_mask_storeu_pd(to, mask, v)
#define add_int _mm512_add_epi32
#define add_float _mm512_add_ps
#define add_double _mm512_add_pd
#define add_product_int(a, b, c) _mm512_add_epi32(_mm512_mullo_epi32(a, b), c)
#define add_product_float _mm512_fmadd_ps
#define add_product_double _mm512_fmadd_pd
#define zero_int _mm512_setzero_si512()
#define zero_float _mm512_setzero_ps()
#define zero_double _mm512_setzero_pd()
#define all_float _mm512_set1_ps
#define sum_int _mm512_reduce_add_epi32
#define sum_float _mm512_reduce_add_ps
#define sum_double _mm512_reduce_add_pd
#else
#define VECTOR_int __m256i
#define VECTOR_float __m256
#define VECTOR_double __m256d
#define MASK_int __m256i
#define MASK_float __m256i
#define MASK_double __m256i
enum { lanes_int = 8, lanes_float = 8, lanes_double = 4 };

#define first_int(count) _mm256_cmpgt_epi32(_mm256_set1_epi32((int)(count)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7))
#define first_float first_int
#define first_double(count) _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_setr_epi64x(0, 1, 2, 3))
#define load_int(from) _mm256_loadu_si256((const __m256i*)(from))
#define load_float(from) _mm256_loadu_ps(from)
#define load_double(from) _mm256_loadu_pd(from)
#define store_int(to, v) _mm256_storeu_si256((__m256i*)(to), v)
#define store_float(to, v) _mm256_storeu_ps(to, v)
#define store_double(to, v) _mm256_storeu_pd(to, v)
#define masked_load_int(mask, from) _mm256_maskload_epi32(from, mask)
#define masked_load_float(mask, from) _mm256_maskload_ps(from, mask)
#define masked_load_double(mask, from) _mm256_maskload_pd(from, mask)
#define masked_store_int(to, mask, v) _mm256_maskstore_epi32(to, mask, v)
#define masked_store_float(to, mask, v) _mm256_maskstore_ps(to, mask, v)
#define masked_store_double(to, mask, v) _mm256_maskstore_pd(to, mask, v)
#define add_int _mm256_add_epi32
#define add_float _mm256_add_ps
#define add_double _mm256_add_pd
#define add_product_int(a, b, c) _mm256_add_epi32(_mm256_mullo_epi32(a, b), c)
#define add_product_float _mm256_fmadd_ps
#define add_product_double _mm256_fmadd_pd
#define zero_int _mm256_setzero_si256()
#define zero_float _mm256_setzero_ps()
#define zero_double _mm256_setzero_pd()
#define all_float _mm256_set1_ps
static inline int sum_int(__m256i v) {
    __m128i s = _mm_add_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0x4e));
    return _mm_cvtsi128_si32(_mm_add_epi32(s, _mm_shuffle_epi32(s, 0xb1)));
}
static inline float sum_float(__m256 v) {
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}
static inline double sum_double(__m256d v) {
    const __m128d s = _mm_add_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));
    return _mm_cvtsd_f64(_mm_add_sd(s, _mm_unpackhi_pd(s, s)));
}
#endif
/* clang-format on */
