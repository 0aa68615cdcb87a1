// SPDX-License-Identifier: Apache-2.0
// Operations on matrices of up to 4 x 4 elements in every order of loops and every form that the plug-in may meet, and
// some that it must leave. Compiled twice: without optimisation, and with the plug-in.
#include "kernels.h"

#define EACH(x) for (int x = 0; x < 4; ++x)
#define KERNEL(name, T, Q) static void name(void* c_, const void* a_, const void* b_, long n)
/* clang-format off */
#define NAMES(T)                                                                                                       \
    T *c = c_;                                                                                                         \
    const T *a = a_, *b = b_;                                                                                          \
    (void)c, (void)a, (void)b, (void)n

#define ORDER(T, form, x, y, z, A, B)                                                                                  \
    KERNEL(add_##form##_##x##y##z##_##T, T, ) { NAMES(T); EACH(x) EACH(y) EACH(z) c[i * 4 + j] += A * B; }
#define SUM(T, form, x, y, A, B)                                                                                       \
    KERNEL(sum_##form##_##x##y##_##T, T, ) { NAMES(T); EACH(x) EACH(y) { T s = 0; EACH(k) s += A * B; c[i * 4 + j] = s; } } \
    KERNEL(zero_##form##_##x##y##_##T, T, ) { NAMES(T); EACH(x) EACH(y) { c[i * 4 + j] = 0; EACH(k) c[i * 4 + j] += A * B; } } \
    KERNEL(more_##form##_##x##y##_##T, T, ) { NAMES(T); EACH(x) EACH(y) { T s = c[i * 4 + j]; EACH(k) s = A * B + s; c[i * 4 + j] = s; } }
#define FORM(T, form, A, B)                                                                                            \
    ORDER(T, form, i, j, k, A, B) ORDER(T, form, i, k, j, A, B) ORDER(T, form, k, i, j, A, B) ORDER(T, form, j, k, i, A, B) \
    SUM(T, form, i, j, A, B) SUM(T, form, j, i, A, B)
#define ALL(T)                                                                                                         \
    FORM(T, nn, a[i * 4 + k], b[k * 4 + j]) FORM(T, nt, a[i * 4 + k], b[j * 4 + k])                                    \
    FORM(T, tn, a[k * 4 + i], b[k * 4 + j]) FORM(T, tt, a[k * 4 + i], b[j * 4 + k])                                    \
    KERNEL(transpose_##T, T, ) { NAMES(T); EACH(i) EACH(j) c[i * 4 + j] = a[j * 4 + i]; }                              \
    KERNEL(transpose_by_columns_##T, T, ) { NAMES(T); EACH(i) EACH(j) c[j * 4 + i] = a[i * 4 + j]; }                   \
    KERNEL(pair_##T, T, ) { T *restrict c = c_; const T *a = a_; T *restrict b = (T *)b_; (void)n;                     \
        T d[16]; EACH(j) EACH(k) { T x = 0, y = 0; EACH(i) { x += a[i * 4 + k] * b[i * 4 + j]; y += a[i * 4 + k] * b[j * 4 + i]; } c[k * 4 + j] = x; d[j * 4 + k] = y; } \
        for (int e = 0; e < 16; ++e) b[e] = d[e]; }                                                                    \
    /* For which the form is another: to be left. */                                                                   \
    KERNEL(square_in_place_##T, T, ) { NAMES(T); EACH(i) EACH(j) { T s = 0; EACH(k) s += c[i * 4 + k] * c[k * 4 + j]; c[i * 4 + j] = s; } } \
    KERNEL(last_column_only_##T, T, ) { NAMES(T); EACH(i) EACH(j) { T s = 0; EACH(k) s += a[i * 4 + k] * b[k * 4 + j]; if (j == 3) c[i * 4 + j] = s; } } \
    KERNEL(from_one_##T, T, ) { NAMES(T); EACH(i) EACH(j) { T s = 1; EACH(k) s += a[i * 4 + k] * b[k * 4 + j]; c[i * 4 + j] = s; } } \
    KERNEL(difference_##T, T, ) { NAMES(T); EACH(i) EACH(j) { T s = 0; EACH(k) s -= a[i * 4 + k] * b[k * 4 + j]; c[i * 4 + j] = s; } } \
    KERNEL(downwards_##T, T, ) { NAMES(T); EACH(i) EACH(j) { T s = 0; for (int k = 3; k >= 0; --k) s += a[i * 4 + k] * b[k * 4 + j]; c[i * 4 + j] = s; } } \
    KERNEL(wide_rows_##T, T, ) { NAMES(T); EACH(i) EACH(j) { T s = 0; EACH(k) s += a[i * 5 + k] * b[k * 4 + j]; c[i * 4 + j] = s; } } \
    KERNEL(zero_in_the_middle_##T, T, ) { NAMES(T); EACH(i) EACH(j) { EACH(k) c[i * 4 + j] += a[i * 4 + k] * b[k * 4 + j]; c[i * 4 + j] = 0; } } \
    KERNEL(zero_each_time_##T, T, ) { NAMES(T); EACH(i) EACH(k) EACH(j) { c[i * 4 + j] = 0; c[i * 4 + j] += a[i * 4 + k] * b[k * 4 + j]; } } \
    KERNEL(three_by_three_##T, T, ) { NAMES(T); for (int i = 0; i < 3; ++i) for (int j = 0; j < 3; ++j) { T s = 0; for (int k = 0; k < 3; ++k) s += a[i * 3 + k] * b[k * 3 + j]; c[i * 3 + j] = s; } }
/* clang-format on */
ALL(f32)
ALL(f64)

// Other sizes: rows x columns, `depth` products each. Where all are 3 x 3, each array ends with its matrix; in the
// others one does.
#define UP_TO(x, end) for (int x = 0; x < end; ++x)
/* clang-format off */
#define SIZED(T, R, C, D, form, P, A, B)                                                                               \
    KERNEL(sized_##form##_##R##C##D##P##_##T, T, ) { NAMES(T); UP_TO(i, R) UP_TO(j, C) { T s = 0; UP_TO(k, D) s += A * B; c[i * P + j] = s; } } \
    KERNEL(sized_add_##form##_##R##C##D##P##_##T, T, ) { NAMES(T); UP_TO(i, R) UP_TO(k, D) UP_TO(j, C) c[i * P + j] += A * B; } \
    KERNEL(sized_apart_##form##_##R##C##D##P##_##T, T, ) { T *restrict c = c_; const T *a = a_, *b = b_; (void)n; UP_TO(j, C) UP_TO(i, R) { T s = c[i * P + j]; UP_TO(k, D) s += A * B; c[i * P + j] = s; } }
#define SIZED_FORMS(T, R, C, D)                                                                                        \
    SIZED(T, R, C, D, nn, C, a[i * D + k], b[k * C + j]) SIZED(T, R, C, D, nt, C, a[i * D + k], b[j * D + k])          \
    SIZED(T, R, C, D, tn, C, a[k * R + i], b[k * C + j]) SIZED(T, R, C, D, tt, C, a[k * R + i], b[j * D + k])          \
    /* Within larger matrices, of rows of five. */                                                                     \
    SIZED(T, R, C, D, nn, 5, a[i * 5 + k], b[k * 5 + j]) SIZED(T, R, C, D, nt, 5, a[i * 5 + k], b[j * 5 + k])          \
    SIZED(T, R, C, D, tn, 5, a[k * 5 + i], b[k * 5 + j]) SIZED(T, R, C, D, tt, 5, a[k * 5 + i], b[j * 5 + k])
#define SIZES(M, T)                                                                                                    \
    M(T, 3, 3, 3) M(T, 2, 2, 2) M(T, 2, 3, 4) M(T, 2, 4, 3) M(T, 3, 2, 4) M(T, 3, 4, 2) M(T, 4, 2, 3) M(T, 4, 3, 2)     \
    M(T, 3, 3, 4) M(T, 3, 4, 3) M(T, 4, 3, 3) M(T, 3, 4, 4) M(T, 4, 3, 4) M(T, 4, 4, 3) M(T, 4, 4, 4)
#define SIZED_PAIR(T, R)                                                                                               \
    KERNEL(sized_apart_pair_##R##_##T, T, ) { T *restrict c = c_; const T *a = a_; T *restrict b = (T *)b_; (void)n;         \
        T d[16]; UP_TO(j, R) UP_TO(k, R) { T x = 0, y = 0; UP_TO(i, R) { x += a[i * R + k] * b[i * R + j]; y += a[i * R + k] * b[j * R + i]; } c[k * R + j] = x; d[j * R + k] = y; } \
        for (int e = 0; e < R * R; ++e) b[e] = d[e]; }
SIZES(SIZED_FORMS, f32) SIZES(SIZED_FORMS, f64) SIZED_PAIR(f32, 2) SIZED_PAIR(f32, 3) SIZED_PAIR(f64, 2) SIZED_PAIR(f64, 3)
/* clang-format on */

#define ROW(f, T) {#f, f, sizeof(T), sizeof(T), sizeof(T), type_of_##T, 16},
/* clang-format off */
#define FORM_ROWS(T, form)                                                                                             \
    ROW(add_##form##_ijk_##T, T) ROW(add_##form##_ikj_##T, T) ROW(add_##form##_kij_##T, T) ROW(add_##form##_jki_##T, T) \
    ROW(sum_##form##_ij_##T, T) ROW(zero_##form##_ij_##T, T) ROW(more_##form##_ij_##T, T)                              \
    ROW(sum_##form##_ji_##T, T) ROW(zero_##form##_ji_##T, T) ROW(more_##form##_ji_##T, T)
#define ROWS(T)                                                                                                        \
    FORM_ROWS(T, nn) FORM_ROWS(T, nt) FORM_ROWS(T, tn) FORM_ROWS(T, tt)                                                \
    ROW(transpose_##T, T) ROW(transpose_by_columns_##T, T) ROW(pair_##T, T) ROW(square_in_place_##T, T)                \
    ROW(last_column_only_##T, T) ROW(from_one_##T, T) ROW(difference_##T, T) ROW(downwards_##T, T)                     \
    ROW(zero_in_the_middle_##T, T) ROW(zero_each_time_##T, T) ROW(three_by_three_##T, T)
#define MOST(x, y) ((x) > (y) ? (x) : (y))
#define SIZED_ROW(f, T, size) {#f, f, sizeof(T), sizeof(T), sizeof(T), type_of_##T, size},
#define SIZED_ROWS_OF(T, R, C, D, form, P, size)                                                                       \
    SIZED_ROW(sized_##form##_##R##C##D##P##_##T, T, size) SIZED_ROW(sized_add_##form##_##R##C##D##P##_##T, T, size)    \
    SIZED_ROW(sized_apart_##form##_##R##C##D##P##_##T, T, size)
#define SIZED_ROWS(T, R, C, D)                                                                                         \
    SIZED_ROWS_OF(T, R, C, D, nn, C, MOST(R * C, MOST(R, C) * D)) SIZED_ROWS_OF(T, R, C, D, nt, C, MOST(R * C, MOST(R, C) * D)) \
    SIZED_ROWS_OF(T, R, C, D, tn, C, MOST(R * C, MOST(R, C) * D)) SIZED_ROWS_OF(T, R, C, D, tt, C, MOST(R * C, MOST(R, C) * D)) \
    SIZED_ROWS_OF(T, R, C, D, nn, 5, 19) SIZED_ROWS_OF(T, R, C, D, nt, 5, 19)                                          \
    SIZED_ROWS_OF(T, R, C, D, tn, 5, 19) SIZED_ROWS_OF(T, R, C, D, tt, 5, 19)
/* clang-format on */
    const struct kernel TABLE[] = {
        ROWS(f32) ROWS(f64) SIZES(SIZED_ROWS, f32) SIZES(SIZED_ROWS, f64) SIZED_ROW(sized_apart_pair_2_f32, f32, 4)
            SIZED_ROW(sized_apart_pair_3_f32, f32, 9) SIZED_ROW(sized_apart_pair_2_f64, f64, 4)
                SIZED_ROW(sized_apart_pair_3_f64, f64, 9){"wide_rows_f32", wide_rows_f32, 4, 4, 4, type_of_f32, 20},
        {"wide_rows_f64", wide_rows_f64, 8, 8, 8, type_of_f64, 20},
        {0, 0, 0, 0, 0, 0, 0}};
