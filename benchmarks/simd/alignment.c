// SPDX-License-Identifier: Apache-2.0
// y += s x in place, where both arrays begin at a cache line, and where both begin four bytes behind one.
#include "problem.h"

// Often on the same small array: what was stored is loaded again soon.
#define PADDED
#ifdef CAUSEWAY_PADDED
#undef PADDED
#define PADDED __attribute__((annotate("causeway_padded")))
#endif
PADDED __attribute__((noinline)) static void saxpy(float* restrict y, const float* restrict x, float s, long n) {
    for (long i = 0; i < n; ++i) y[i] += s * x[i];
}

static void aligned(void* c, void* d, const void* a, const void* b, long n) {
    (void)d, (void)b;
    saxpy(c, a, 1e-9f, n);
}
static void misaligned(void* c, void* d, const void* a, const void* b, long n) {
    (void)d, (void)b;
    saxpy((float*)c + 1, (const float*)a + 1, 1e-9f, n);
}

#define ROWS(n) {"aligned", "aligned, n = " #n, aligned, n, 1}, {"misaligned", "misaligned, n = " #n, misaligned, n, 1},
const struct kernel kernels[] = {ROWS(7) ROWS(20) ROWS(40) ROWS(250) ROWS(500) ROWS(1000) ROWS(2000) ROWS(4000)
                                     ROWS(20000){0, 0, 0, 0, 0}};
