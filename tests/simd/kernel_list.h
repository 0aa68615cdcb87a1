// SPDX-License-Identifier: Apache-2.0
// The instances of the loops of kernels.c: once their functions, once their rows in the table.
/* clang-format off */
#ifndef ROWS
#define EACH(what, ...) what##_LOOPS(__VA_ARGS__)
#endif

EACH(RUN_TIME, i8) EACH(RUN_TIME, i16) EACH(RUN_TIME, i32) EACH(RUN_TIME, i64) EACH(RUN_TIME, u32)
EACH(RUN_TIME, f32) EACH(RUN_TIME, f64)
EACH(INTEGER, i8) EACH(INTEGER, i16) EACH(INTEGER, i32) EACH(INTEGER, i64) EACH(INTEGER, u32)
EACH(FLOATING, f32) EACH(FLOATING, f64)
EACH(MIXED, f64, f32) EACH(MIXED, f32, f64) EACH(MIXED, f32, i32) EACH(MIXED, i64, i8) EACH(MIXED, f64, i16)
#define LENGTHS(T)                                                                                                     \
    EACH(CONSTANT, T, 5) EACH(CONSTANT, T, 7) EACH(CONSTANT, T, 9) EACH(CONSTANT, T, 13) EACH(CONSTANT, T, 15)         \
    EACH(CONSTANT, T, 16) EACH(CONSTANT, T, 17) EACH(CONSTANT, T, 23) EACH(CONSTANT, T, 31) EACH(CONSTANT, T, 47)      \
    EACH(CONSTANT, T, 63)
LENGTHS(i8) LENGTHS(i16) LENGTHS(i32) LENGTHS(i64) LENGTHS(f32) LENGTHS(f64)
#undef LENGTHS
EACH(CONSTANT, i32, 143) EACH(CONSTANT, f32, 143) EACH(CONSTANT, f64, 143)
