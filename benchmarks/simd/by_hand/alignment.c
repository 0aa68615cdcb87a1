// SPDX-License-Identifier: Apache-2.0
// ../alignment.c by intrinsics: whole vectors and a masked one, wherever the arrays begin.
#include "../problem.h"
#include "vectors.h"

__attribute__((noinline)) static void saxpy(float* restrict y, const float* restrict x, float s, long n) {
    const VECTOR_float factor = all_float(s);
    long i = 0;
    for (; i + lanes_float <= n; i += lanes_float)
        store_float(y + i, add_product_float(factor, load_float(x + i), load_float(y + i)));
    if (i < n) {
        const MASK_float mask = first_float(n - i);
        masked_store_float(y + i, mask,
                           add_product_float(factor, masked_load_float(mask, x + i), masked_load_float(mask, y + i)));
    }
}

#include "../alignment_table.h"
