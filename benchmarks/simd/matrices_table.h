// SPDX-License-Identifier: Apache-2.0
// The operations that are timed, by the functions that the including file has.
#define ROWS(T)                                                                                                        \
    {"A B", "A B, " #T, product_##T, 0, batch}, {"A B^T", "A B^T, " #T, by_transpose_##T, 0, batch},                   \
        {"C + A B", "C + A B, " #T, add_product_##T, 0, batch},                                                        \
        {"transpose", "transpose, " #T, transpose_##T, 0, batch}, {"pair", "pair, " #T, pair_##T, 0, batch},
const struct kernel kernels[] = {ROWS(float) ROWS(double){0, 0, 0, 0, 0}};
