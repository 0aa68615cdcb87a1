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

#include "alignment_table.h"
