// SPDX-License-Identifier: Apache-2.0
// Matrices are read and written with the alignment of their elements, which may be less than that of the type.
// TARGET packed = -O3 -march=haswell -S -emit-llvm
// TARGET i386 = -O3 -m32 -march=haswell -S -emit-llvm

typedef float __attribute__((aligned(1))) packed_float;

// packed: remark: a transpose of 4 x 4 floats in registers
// packed: define {{.*}}@transpose_of_packed(
// packed-NOT: align 4
// packed: store <{{.*}} x float> {{.*}}, align 1
// packed: ret void
void transpose_of_packed(packed_float (*restrict c)[4], packed_float (*a)[4]) {
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            c[i][j] = a[j][i];
}

// The ABI of i386 aligns a double to four bytes.
// i386: define {{.*}}@transpose_of_doubles(
// i386-NOT: align 8
// i386: store <{{.*}} x double> {{.*}}, align 4
// i386: ret void
void transpose_of_doubles(double (*restrict c)[4], double (*a)[4]) {
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            c[i][j] = a[j][i];
}
