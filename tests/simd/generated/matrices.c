// SPDX-License-Identifier: Apache-2.0
// Products of matrices of up to 4 x 4 elements: whole matrices in registers, rows repeated by loads that need no shuffle.
// TARGET wide = -O3 -march=sapphirerapids
// TARGET avx2 = -O3 -march=haswell
// TARGET strict = -O3 -march=sapphirerapids -ffp-contract=off
// TARGET sse = -O3 -march=x86-64
// TARGET narrow = -O3 -march=haswell -mprefer-vector-width=128
// TARGET elsewhere-avx = -O3 -march=sandybridge
// TARGET elsewhere-sve = -O3 --target=aarch64-linux-gnu -march=armv9-a -msve-vector-bits=512 -ffreestanding

// wide: remark: a product of 4 x 4 floats in registers [-Rpass=causeway-simd]
// wide: remark: a product by a transpose of 4 x 4 floats in registers, where matrices do not overlap [-Rpass=causeway-simd]
// wide: remark: a product and a product of two transposes of 4 x 4 floats in registers [-Rpass=causeway-simd]
// wide: remark: a matrix is read and written [-Rpass-missed=causeway-simd]
// wide: remark: a product by a transpose of 3 x 3 floats in registers [-Rpass=causeway-simd]
// wide: remark: an added product that is 2 x 4 doubles in registers [-Rpass=causeway-simd]
// sse-NOT: [-Rpass=causeway-simd]
// sse: remark: a product of 4 x 4 floats: only code for AVX2 or AVX-512 is changed [-Rpass-missed=causeway-simd]
// sse-NOT: [-Rpass=causeway-simd]
// narrow: remark: a product of 4 x 4 floats: a vector holds less than half a matrix of floats, so nothing is gained [-Rpass-missed=causeway-simd]
// elsewhere-avx-NOT: [-Rpass=causeway-simd]
// elsewhere-avx: remark: a product of 4 x 4 floats: only code for AVX2 or AVX-512 is changed [-Rpass-missed=causeway-simd]
// elsewhere-avx-NOT: [-Rpass=causeway-simd]
// elsewhere-sve-NOT: [-Rpass=causeway-simd]
// elsewhere-sve: remark: a product of 4 x 4 floats: only code for AVX2 or AVX-512 is changed [-Rpass-missed=causeway-simd]
// elsewhere-sve-NOT: [-Rpass=causeway-simd]

// wide-LABEL: {{^}}multiply:
// wide-COUNT-4: vbroadcastf32x4 {{[0-9]*}}(%rdx), %zmm
// wide-NOT: vshuff64x2
// wide: vmovups %zmm{{[0-9]+}}, (%rdi)
// avx2-LABEL: {{^}}multiply:
// avx2: vbroadcastf128 {{[0-9]*}}(%rdx), %ymm
// avx2: vfmadd
// strict-LABEL: {{^}}multiply:
// strict-COUNT-4: vmulps
// strict-NOT: vfmadd
// strict: retq
void multiply(float (*restrict c)[4], float (*a)[4], float (*b)[4]) {
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            float sum = 0;
            for (int k = 0; k < 4; k++)
                sum += a[i][k] * b[k][j];
            c[i][j] = sum;
        }
}

// wide-LABEL: {{^}}by_transpose:
// wide-DAG: {{vperm(ps|d) .*%zmm}}
// wide-DAG: vfmadd{{[0-9]+}}ss
// wide: retq
// avx2-LABEL: {{^}}by_transpose:
// avx2-NOT: vblendps
// avx2-DAG: vunpcklps {{.*}}%ymm
// avx2-DAG: vunpckhps {{.*}}%ymm
// avx2: retq
void by_transpose(float (*c)[4], float (*a)[4], float (*b)[4]) {
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            c[i][j] = 0;
            for (int k = 0; k < 4; k++)
                c[i][j] += a[i][k] * b[j][k];
        }
}

// wide-LABEL: {{^}}pair:
// wide-NOT: vfmadd{{[0-9]+}}ss
// wide: retq
// Each row of what is transposed is read twice, into both halves of a register.
// avx2-LABEL: {{^}}pair:
// avx2-COUNT-8: vpermilps
// avx2: retq
void pair(float (*restrict c)[4], float (*restrict d)[4], float (*a)[4], float (*b)[4]) {
    for (int j = 0; j < 4; j++)
        for (int k = 0; k < 4; k++) {
            float x = 0, y = 0;
            for (int i = 0; i < 4; i++) {
                x += a[k][i] * b[i][j];
                y += a[i][k] * b[j][i];
            }
            c[k][j] = x;
            d[k][j] = y;
        }
}

// The elements of b are repeated once for both products.
// wide-LABEL: {{^}}pair_of_doubles:
// wide-NOT: {1to4}
// wide-NOT: vfmadd{{[0-9]+}}sd
// wide: retq
void pair_of_doubles(double (*restrict c)[4], double (*restrict d)[4], double (*a)[4], double (*b)[4]) {
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            double x = 0, y = 0;
            for (int k = 0; k < 4; k++) {
                x += a[k][i] * b[k][j];
                y += a[k][i] * b[j][k];
            }
            c[i][j] = x;
            d[j][i] = y;
        }
}

// Two rows of the result in each of two registers.
// wide-LABEL: {{^}}transpose_of_doubles:
// wide-COUNT-2: vperm{{[it]}}2pd
// wide-NOT: vperm
// wide-NOT: vunpck
// wide: retq
// avx2-LABEL: {{^}}transpose_of_doubles:
// avx2-COUNT-8: {{vunpck|vinsertf128|vperm2f128}}
// avx2: retq
void transpose_of_doubles(double (*restrict c)[4], double (*a)[4]) {
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) c[i][j] = a[j][i];
}

void in_place(float (*a)[4], float (*b)[4]) {
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            float sum = 0;
            for (int k = 0; k < 4; k++)
                sum += a[i][k] * b[k][j];
            a[i][j] = sum;
        }
}

// Rows of three are read and written as such, whatever lies behind the matrix.
// avx2-LABEL: {{^}}three_by_three:
// avx2: vmovsd
// avx2-NOT: vfmadd{{[0-9]+}}ss
// avx2: vextractps $2, {{.*}}, 32(%rdi)
// avx2-NOT: vfmadd{{[0-9]+}}ss
// avx2: retq
void three_by_three(float (*restrict c)[3], float (*a)[3], float (*b)[3]) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            float sum = 0;
            for (int k = 0; k < 3; k++) sum += a[k][i] * b[k][j];
            c[i][j] = sum;
        }
}

// Two rows of a matrix of six columns.
// wide-LABEL: {{^}}part_of_a_matrix:
// wide-COUNT-2: vmovupd %ymm{{[0-9]+}}, {{[0-9]*}}(%rdi)
// wide: retq
void part_of_a_matrix(double (*restrict c)[6], double (*a)[3], double (*b)[4]) {
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 3; k++)
            for (int j = 0; j < 4; j++) c[i][j] += a[i][k] * b[k][j];
}

// Two columns: the compiler's own code.
// wide-NOT: 2 x 2
void two_by_two(float (*restrict c)[2], float (*a)[2], float (*b)[2]) {
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++)
            for (int j = 0; j < 2; j++) c[i][j] += a[i][k] * b[k][j];
}
