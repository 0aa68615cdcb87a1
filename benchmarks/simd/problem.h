// SPDX-License-Identifier: Apache-2.0
// What a way of compiling (or writing) the kernels hands to compare.c.
#pragma once

struct kernel {
    const char* group; // rows of the table that are summed up together
    const char* name;
    void (*run)(void* c, void* d, const void* a, const void* b, long n);
    long n;
    int items; // what a call does, for times per item
};

/// Ends with a kernel without name.
extern const struct kernel kernels[];
