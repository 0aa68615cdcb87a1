// SPDX-License-Identifier: Apache-2.0
// Rows of one length in padded matrices, in place and not: each row has a vector's room behind it, the last one before
// an unmapped page. Compiled twice, as kernels.c is.
#define _GNU_SOURCE
#include "kernels.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { rows = 5, padding = 64, page = 4096, pages = 4 };

/// Room of `size_bytes`, a multiple of an element, that ends where nobody may read or write.
static void* ending_at_page(int which, size_t size_bytes) {
    static char* room[3];
    if (!room[which]) {
        room[which] = mmap(0, (pages + 1) * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (room[which] == MAP_FAILED || mprotect(room[which] + pages * page, page, PROT_NONE)) abort();
    }
    return size_bytes > pages * page ? (abort(), NULL) : room[which] + pages * page - size_bytes;
}

#define NEST(T, name, ...)                                                                                             \
    __attribute__((noinline, annotate("causeway_padded"))) static void name##_in_##T(                                  \
        T* restrict c, const T* restrict a, const T* restrict b, long length, long pitch) {                            \
        for (int r = 0; r < rows; ++r)                                                                                 \
            for (long i = 0; i < length; ++i) __VA_ARGS__;                                                             \
        (void)b;                                                                                                       \
    }                                                                                                                  \
    static void name##_##T(void* c_, const void* a_, const void* b_, long n) {                                         \
        volatile T* to = c_; /* volatile: these loops are not padded, and not tested */                                \
        const volatile T* from[2] = {a_, b_};                                                                          \
        const long length = n / rows, pitch = length + padding / (long)sizeof(T);                                      \
        T* matrices[3];                                                                                                \
        for (int m = 0; m < 3; ++m) {                                                                                  \
            matrices[m] = ending_at_page(m, sizeof(T) * (size_t)(rows * pitch));                                       \
            for (int r = 0; r < rows; ++r)                                                                             \
                for (long i = 0; i < length; ++i)                                                                      \
                    matrices[m][r * pitch + i] = m == 0 ? to[r * length + i] : from[m - 1][r * length + i];            \
        }                                                                                                              \
        name##_in_##T(matrices[0], matrices[1], matrices[2], length, pitch);                                           \
        for (int r = 0; r < rows; ++r)                                                                                 \
            for (long i = 0; i < length; ++i) to[r * length + i] = matrices[0][r * pitch + i];                         \
    }
#define NESTS(T)                                                                                                       \
    NEST(T, rows, c[r * pitch + i] = a[r * pitch + i] + b[r * pitch + i])                                              \
    NEST(T, rows_in_place, c[r * pitch + i] += 3 * a[r * pitch + i])                                                   \
    NEST(T, chosen_rows, if (a[r * pitch + i] > 2) c[r * pitch + i] = b[r * pitch + i])
NESTS(i8)
NESTS(i16)
NESTS(i32)
NESTS(i64)
NESTS(f32)
NESTS(f64)

#define ROW(name, T) {#name, name, sizeof(T), sizeof(T), sizeof(T), type_of_##T, 0}
#define TABLE_ROWS(T) ROW(rows_##T, T), ROW(rows_in_place_##T, T), ROW(chosen_rows_##T, T),
const struct kernel TABLE[] = {TABLE_ROWS(i8) TABLE_ROWS(i16) TABLE_ROWS(i32) TABLE_ROWS(i64) TABLE_ROWS(f32)
                                   TABLE_ROWS(f64){0, 0, 0, 0, 0, 0, 0}};
