// SPDX-License-Identifier: Apache-2.0
// OpenCL C: the plug-in as in C, and causeway/simd.h as it is.
// TARGET wide = -x cl -cl-std=CL1.2 -Xclang -finclude-default-header -O3 -march=sapphirerapids -mprefer-vector-width=512 -cl-mad-enable

// wide: remark: 31 iterations are 2 steps of 16 lanes, the last one masked

#include <causeway/simd.h>

// wide-LABEL: {{^}}row:
// wide: {%k1} {z}
// wide: retq
__kernel void row(__global float *restrict c, __global const float *a) {
    for (int i = 0; i < 31; i++)
        c[i] = a[i] * 3;
}

// wide-LABEL: {{^}}multiply:
// wide-COUNT-4: vfmadd{{[0-9]*}}ps {{.*}}%zmm
__kernel void multiply(__global float *c, __global const float *a, __global const float *b) {
    causeway_mat4_store(causeway_mat4_multiply(causeway_mat4_load(a), causeway_mat4_load(b)), c);
}
