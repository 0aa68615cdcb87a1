/* SPDX-License-Identifier: Apache-2.0 */
/* A clock in microseconds, and quantiles of measured values. */
#ifndef TIMING_H
#define TIMING_H

#include <stdlib.h>
#include <time.h>

static inline double now_us(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

static inline int by_size(const void* left, const void* right) {
    const double a = *(const double*)left, b = *(const double*)right;
    return (a > b) - (a < b);
}

/* The quantile `part` of `count` values (0.5: the median). Sorts the values. */
static inline double quantile(double* values, int count, double part) {
    qsort(values, (size_t)count, sizeof *values, by_size);
    return values[(int)(part * count)];
}

#endif
