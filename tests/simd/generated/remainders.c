// SPDX-License-Identifier: Apache-2.0
// Loops whose length is known at run time: the compiler's own vectors, single vectors, one masked step, and no scalar loop.
// TARGET wide = -O3 -march=sapphirerapids -mprefer-vector-width=512
// TARGET avx2 = -O2 -march=haswell
// TARGET zen = -O3 -march=znver3
// TARGET openmp = -O3 -march=sapphirerapids -mprefer-vector-width=512 -fopenmp-simd
// TARGET fast = -O3 -march=sapphirerapids -mprefer-vector-width=512 -ffast-math
// TARGET wrapping = -O3 -march=sapphirerapids -mprefer-vector-width=512

// wide: remark: vectors of 4 x 16 lanes, the rest by single vectors and a masked step [-Rpass=causeway-simd]
// wide: remark: its profile says that it is long, and the rest a small part of it [-Rpass-missed=causeway-simd]
// avx2: remark: vectors of 4 x 8 lanes, the rest by single vectors and a masked step [-Rpass=causeway-simd]

// wide-LABEL: {{^}}add:
// wide: vmovups 192(%rsi,%{{r[0-9a-z]+}},4), %zmm
// wide: vpcmpnltud {{.*}}, %k1
// wide: vmovups (%rsi,%{{r[0-9a-z]+}},4), %zmm0 {%k1} {z}
// wide-NOT: vaddss
// wide: retq
// zen: remark: vectors of 4 x 8 lanes, the rest by single vectors, of which the last begins earlier [-Rpass=causeway-simd]
// zen-LABEL: {{^}}add:
// zen-NOT: vmaskmov
// zen: retq
// avx2-LABEL: {{^}}add:
// avx2: vmovups 96(%rsi,%{{r[0-9a-z]+}},4), %ymm
// avx2: vmaskmovps
// avx2-NOT: vaddss
// avx2: retq
void add(float *restrict c, const float *a, const float *b, long n) {
    for (long i = 0; i < n; i++)
        c[i] = a[i] + b[i];
}

// Where pointers may overlap, and do, the scalar loop stays.
// wide-LABEL: {{^}}add_perhaps_aliased:
// wide-DAG: {{vmovups .*%zmm[0-9]+ {%k[0-9]} {z}}}
// wide-DAG: vaddss
// wide: retq
void add_perhaps_aliased(float *c, const float *a, const float *b, int n) {
    for (int i = 0; i < n; i++)
        c[i] = a[i] + b[i];
}

// fast-LABEL: {{^}}sum:
// fast: {%k1} {z}
// fast-NOT: vaddss {{.*}}(%r
// fast: retq
// wide-LABEL: {{^}}sum:
// wide-NOT: vaddps
// wide: retq
float sum(const float *y, int n) {
    float x = 10;
    for (int k = 0; k < n; k++)
        x = x + y[k];
    return x;
}

// Long and not aligned: a masked step ahead. Who has not even the compiler's vectors to run is not asked.
// wide-LABEL: {{^}}aligned:
// wide: cmpq $64, %rdx
// wide: cmpq $-384,
// wide: testb $63, %dil
// wide: vmovups %zmm0, (%rdi) {%k1}
// wide-NOT: vsubss
// wide: retq
void aligned(float *restrict c, const float *a, long n) {
    for (long i = 0; i < n; i++)
        c[i] = a[i] - 1;
}

// Of a length that is known, the last vector begins earlier: no mask.
// wide-LABEL: {{^}}of_constant_length:
// wide-NOT: %k
// wide: vmovups %zmm{{[0-9]+}}, 956(%rdi)
// wide-NOT: %k
// wide: retq
// avx2-LABEL: {{^}}of_constant_length:
// avx2-NOT: vmaskmov
// avx2: retq
void of_constant_length(float *restrict c, const float *a) {
    for (int i = 0; i < 255; i++)
        c[i] = a[i] + 3;
}

// What it would read again, it has written.
// wide-LABEL: {{^}}not_twice:
// wide: {%k{{[0-9]}}}
// wide: retq
void not_twice(float *a) {
    for (int i = 0; i < 255; i++)
        a[i] = a[i + 1] + 3;
}

// wide-LABEL: {{^}}last:
// wide-NOT: {%k
// wide: retq
int last(int *restrict c, const int *a, int n) {
    int value = 0;
    for (int i = 0; i < n; i++)
        c[i] = value = a[i] + 1;
    return value;
}

// openmp-LABEL: {{^}}may_run_at_once:
// openmp: {%k1} {z}
// openmp-NOT: vaddss
// openmp: retq
void may_run_at_once(float *c, const float *a, const float *b, int n) {
#pragma omp simd
    for (int i = 0; i < n; i++)
        c[i] = a[i] + b[i];
}

// The instruction before which inductions are made anew goes with one of them.
// wide-LABEL: {{^}}copy_down:
// wide: vmovdqu8 {{.*}}{%k
// wide: retq
void copy_down(unsigned char *c, const unsigned char *a, unsigned n) {
    do
        *c++ = *a++;
    while (--n);
}

// A sum of 32 bits wraps, and the next element is then far away.
// wrapping: remark: an access's index may wrap around, or not walk from element to element (one of 64 bits does not wrap)
// wrapping-LABEL: {{^}}index_of_32_bits:
// wrapping-NOT: {%k
// wrapping: retq
void index_of_32_bits(float *restrict c, const float *restrict a, unsigned from, long n) {
    for (long i = 0; i < n; i++)
        c[i] = a[from + (unsigned)i];
}

// Known to be long: the compiler's vectors, and its scalar rest.
void long_by_profile(float* restrict c, const float* a, long n) {
    for (long i = 0; __builtin_expect_with_probability(i < n, 1, 0.99999); i++) c[i] = a[i] + 1;
}

// A last vector that begins earlier needs steps that are known.
// avx2-LABEL: {{^}}counted_by:
// avx2: retq
void counted_by(int *restrict c, const int *a, int step) {
    int x = 5;
    for (int i = 0; i < 103; i++, x += step)
        c[i] = a[i] + x;
}
