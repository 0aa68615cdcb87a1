// SPDX-License-Identifier: Apache-2.0
// The functions of causeway/simd.h compute what plain loops do, bit for bit. Also compiled as C++.
#include <causeway/simd.h>

#include <stdio.h>
#include <string.h>

enum { most = 70 };
static int failures;

static void check(const char* what, int n, const float* expected, const float* got, int count) {
    if (memcmp(expected, got, sizeof(float) * (size_t)count) != 0) {
        printf("%s differs, n = %d\n", what, n);
        ++failures;
    }
}

static void plain_multiply(float* c, const float* a, const float* b, int a_transposed, int b_transposed) {
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) {
            float sum = 0;
            for (int k = 0; k < 4; ++k) {
                const float product = (a_transposed ? a[4 * k + i] : a[4 * i + k]) *
                                      (b_transposed ? b[4 * j + k] : b[4 * k + j]);
                sum = sum + product;
            }
            c[4 * i + j] = sum;
        }
}

int main(void) {
    float a[most + 1], b[most + 1], expected[most + 1], got[most + 1];
    for (int i = 0; i <= most; ++i) {
        a[i] = (float)(i * 37 % 19) / 7 - 1;
        b[i] = (float)(i * 11 % 23) / 3 - 4;
    }
    for (int n = -1; n < most; ++n) {
        for (int i = 0; i <= most; ++i) expected[i] = got[i] = -1;
        for (int i = 0; i < n; ++i) expected[i] = a[i] * b[i] + 1;
        CAUSEWAY_SHORT_LOOP(int, i, n, 16, got[i] = a[i] * b[i] + 1;);
        check("CAUSEWAY_SHORT_LOOP", n, expected, got, most + 1);
    }
    const causeway_mat4 x = causeway_mat4_load(a + 1), y = causeway_mat4_load(b + 3);
    plain_multiply(expected, a + 1, b + 3, 0, 0);
    causeway_mat4_store(causeway_mat4_multiply(x, y), got + 1);
    check("causeway_mat4_multiply", 4, expected, got + 1, 16);
    plain_multiply(expected, a + 1, b + 3, 0, 1);
    causeway_mat4_store(causeway_mat4_multiply_by_transpose(x, y), got);
    check("causeway_mat4_multiply_by_transpose", 4, expected, got, 16);
    causeway_mat4 p, q;
    causeway_mat4_pair(x, y, &p, &q);
    causeway_mat4_store(p, got);
    plain_multiply(expected, a + 1, b + 3, 1, 0);
    check("causeway_mat4_pair, first", 4, expected, got, 16);
    causeway_mat4_store(q, got);
    plain_multiply(expected, b + 3, a + 1, 0, 0);
    check("causeway_mat4_pair, second", 4, expected, got, 16);
    causeway_mat4_store(causeway_mat4_transpose(x), got);
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) expected[4 * i + j] = a[1 + 4 * j + i];
    check("causeway_mat4_transpose", 4, expected, got, 16);
    printf("%d differ\n", failures);
    return failures != 0;
}
