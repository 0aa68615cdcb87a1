// SPDX-License-Identifier: Apache-2.0
// Short rows of constant length: vectors, of which the last is masked, and no loop.
// TARGET wide = -O3 -march=sapphirerapids -mprefer-vector-width=512
// TARGET avx512 = -O3 -march=sapphirerapids
// TARGET avx2 = -O2 -march=haswell
// TARGET zen = -O3 -march=znver3
// TARGET sse = -O3 -march=x86-64
// TARGET elsewhere-avx = -O3 -march=sandybridge
// TARGET elsewhere-sve = -O3 --target=aarch64-linux-gnu -march=armv9-a -ffreestanding
// TARGET elsewhere-riscv = -O3 --target=riscv64-linux-gnu -march=rv64gcv -ffreestanding
// TARGET size = -Os -march=sapphirerapids

// wide: remark: 31 iterations are 2 steps of 16 lanes, the last one masked [-Rpass=causeway-simd]
// wide: remark: vectors of 4 x 16 lanes, the rest by single vectors and a masked step, aligned where it is long, short rows in a nest of their own
// avx512: remark: 31 iterations are 4 steps of 8 lanes, the last one masked [-Rpass=causeway-simd]
// avx2: remark: 31 iterations are 4 steps of 8 lanes, the last one masked [-Rpass=causeway-simd]
// zen: remark: masked stores of AVX2 are slow on the processor that is compiled for [-Rpass-missed=causeway-simd]
// sse: remark: only code for AVX2 or AVX-512 is changed [-Rpass-missed=causeway-simd]
// elsewhere-avx-NOT: [-Rpass=causeway-simd]
// elsewhere-avx: remark: only code for AVX2 or AVX-512 is changed [-Rpass-missed=causeway-simd]
// elsewhere-avx-NOT: [-Rpass=causeway-simd]
// elsewhere-sve-NOT: [-Rpass=causeway-simd]
// elsewhere-sve: remark: only code for AVX2 or AVX-512 is changed [-Rpass-missed=causeway-simd]
// elsewhere-sve-NOT: [-Rpass=causeway-simd]
// elsewhere-riscv-NOT: [-Rpass=causeway-simd]
// elsewhere-riscv: remark: only code for AVX2 or AVX-512 is changed [-Rpass-missed=causeway-simd]
// elsewhere-riscv-NOT: [-Rpass=causeway-simd]
// size-NOT: remark

// wide-LABEL: {{^}}row_of_floats:
// wide: vmovups (%rsi), %zmm{{[0-9]+}}{{$}}
// wide: movw $32767,
// wide: vmovups 64({{.*}}), %zmm{{[0-9]+}} {%k{{[0-9]}}} {z}
// wide: vmovups %zmm{{[0-9]+}}, 64(%rdi) {%k{{[0-9]}}}
// wide-NOT: j{{[a-z]+}}
// wide: retq
// avx512-LABEL: {{^}}row_of_floats:
// avx512: vmovups 96({{.*}}), %ymm{{[0-9]+}} {%k{{[0-9]}}} {z}
// avx512-NOT: {{^[[:space:]]}}j{{[a-z]+}}
// avx512: vmovups %ymm{{[0-9]+}}, 96(%rdi) {%k{{[0-9]}}}
// avx2-LABEL: {{^}}row_of_floats:
// avx2: vmaskmovps 96(%rsi)
// avx2: vmaskmovps %ymm{{[0-9]+}}, %ymm{{[0-9]+}}, 96(%rdi)
// avx2-NOT: {{^[[:space:]]}}j{{[a-z]+}}
// avx2: retq
// zen-LABEL: {{^}}row_of_floats:
// zen-NOT: vmaskmov
// zen: vmovups %ymm{{[0-9]+}}, 64(%rdi)
// zen: retq
void row_of_floats(float *restrict c, const float *a, const float *b) {
    for (int i = 0; i < 31; i++)
        c[i] = a[i] + b[i];
}

// The smallest sufficient width.
// wide-LABEL: {{^}}row_of_seven:
// wide: movb $127,
// wide-NOT: zmm
// wide: %ymm{{[0-9]+}} {%k{{[0-9]}}} {z}
// wide: retq
void row_of_seven(int *restrict c, const int *a) {
    for (int i = 0; i < 7; i++)
        c[i] = a[i] * 3;
}

// Strict arithmetic keeps the order of a sum, so no vector adds.
// wide-LABEL: {{^}}strict_sum:
// wide-NOT: vaddps
// wide: retq
float strict_sum(const float *y) {
    float x = 0;
    for (int k = 0; k < 31; k++)
        x = x + y[k];
    return x;
}

// Rows of one length, known at run time: short ones have a nest of their own, whose mask is made before it.
// wide-LABEL: {{^}}rows_of_one_length:
// wide: cmpq $128, %
// wide: cmpl $7, %
// wide: vpcmp{{.*}}ymm{{.*}}, %k1
// wide: vmovups %ymm{{[0-9]+}}, (%r{{[a-z0-9]+}}) {%k1}
// wide-NOT: vpcmp
// wide: vmovups %ymm{{[0-9]+}}, 3840(%r{{[a-z0-9]+}}) {%k1}
// wide: retq
void rows_of_one_length(float *restrict c, const float *a, const float *b, long n) {
    for (int r = 0; r < 16; r++)
        for (long i = 0; i < n; i++)
            c[r * 64 + i] = a[r * 64 + i] + b[r * 64 + i];
}
