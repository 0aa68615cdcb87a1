// SPDX-License-Identifier: Apache-2.0
// The loops that are timed, by the saxpy() that the including file has.
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
