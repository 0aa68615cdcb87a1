// SPDX-License-Identifier: Apache-2.0
// The table of loops that kernels.c and its checker share.
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef int8_t i8;
typedef int16_t i16;
typedef int32_t i32;
typedef int64_t i64;
typedef uint32_t u32;
typedef float f32;
typedef double f64;
enum element { type_of_i8, type_of_i16, type_of_i32, type_of_i64, type_of_u32, type_of_f32, type_of_f64 };

struct kernel {
    const char* name;
    void (*run)(void* c, const void* a, const void* b, long n);
    size_t c_size, a_size, b_size; // of an element, in bytes
    enum element type;             // of c
    long only;                     // if not 0, the one n that it works for
};
