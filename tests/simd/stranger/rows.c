// SPDX-License-Identifier: Apache-2.0
// A short row.
#include <stdlib.h>

__attribute__((noinline)) static void add(int* restrict c, const int* a, const int* b) {
    for (int i = 0; i < 31; ++i) c[i] = a[i] + b[i];
}

int main(void) {
    int a[31], b[31], c[31];
    for (int i = 0; i < 31; ++i) a[i] = i, b[i] = rand() % 100;
    add(c, a, b);
    for (int i = 0; i < 31; ++i)
        if (c[i] != a[i] + b[i]) return 1;
    return 0;
}
