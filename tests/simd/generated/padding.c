// SPDX-License-Identifier: Apache-2.0
// Where arrays are padded, the last vector needs no mask.
// TARGET attribute = -O3 -march=sapphirerapids -mprefer-vector-width=512
// TARGET option = -O3 -march=sapphirerapids -mprefer-vector-width=512 -mllvm -causeway-simd-padded

// attribute: remark: vectors of 4 x 16 lanes, the rest by single vectors, the last one into padding
// attribute: remark: 31 iterations are 2 steps of 16 lanes, the last one into padding
// attribute: remark: the compiler's vectors, aligned where it is long
// attribute: remark: 31 iterations are 2 steps of 16 lanes, the last one masked
// attribute: remark: vectors of 4 x 16 lanes, the rest by single vectors, the last one into padding, {{.*}}short rows in a nest of their own
// option: remark: 31 iterations are 2 steps of 16 lanes, the last one masked

// attribute-LABEL: {{^}}padded:
// attribute-COUNT-1: vmovups {{.*}} {%k1}{{$}}
// attribute-NOT: vmulss
// attribute-NOT: {%k
// attribute: retq
__attribute__((annotate("causeway_padded"))) void padded(float *restrict c, const float *a, long n) {
    for (long i = 0; i < n; i++)
        c[i] *= a[i];
}

// attribute-LABEL: {{^}}padded_row:
// attribute-NOT: {%k
// attribute: retq
__attribute__((annotate("causeway_padded"))) void padded_row(float *restrict c, const float *a) {
    for (int i = 0; i < 31; i++)
        c[i] *= a[i];
}

// A masked store would delay the next load of the array.
// attribute-LABEL: {{^}}not_padded:
// attribute-COUNT-1: vmovups {{.*}} {%k1}{{$}}
// attribute: vmulss
// attribute: retq
void not_padded(float *restrict c, const float *a, long n) {
    for (long i = 0; i < n; i++)
        c[i] *= a[i];
}

// What lies before an array is nobody's promise.
// option-LABEL: {{^}}backwards:
// option: {%k
// option: retq
void backwards(float *restrict c, const float *a) {
    for (int i = 0; i < 31; i++)
        c[i] = a[30 - i];
}

// Each of short rows has its own padding.
__attribute__((annotate("causeway_padded"))) void padded_rows(float *restrict c, const float *a, const float *b, long n) {
    for (int r = 0; r < 16; r++)
        for (long i = 0; i < n; i++)
            c[r * 128 + i] = a[r * 128 + i] * b[r * 128 + i];
}
