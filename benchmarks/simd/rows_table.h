// SPDX-License-Identifier: Apache-2.0
// The rows that are timed, by the functions that the including file has.
#define FIXED_ROW(T, N) {"constant rows", #T " " #N, T##_##N, N, rows},
#define FREE_ROW(T, N) {"run-time rows", #T " n = " #N, T##_n, N, rows},
/* clang-format off */
#define ALL_ROWS(T)                                                                                                    \
    FIXED_ROW(T, 7) FIXED_ROW(T, 13) FIXED_ROW(T, 15) FIXED_ROW(T, 23) FIXED_ROW(T, 31)                                \
    FREE_ROW(T, 7) FREE_ROW(T, 15) FREE_ROW(T, 31) FREE_ROW(T, 47) FREE_ROW(T, 63)                                     \
    {"n = 1000", #T " n = 1000", T##_long, 1000, 1}, {"dot, n = 63", #T " dot, n = 63", T##_dot, 63, 1},               \
    {"dot, n = 1000", #T " dot, n = 1000", T##_dot, 1000, 1},
/* clang-format on */
const struct kernel kernels[] = {ALL_ROWS(int) ALL_ROWS(float) ALL_ROWS(double){0, 0, 0, 0, 0}};
