/* SPDX-License-Identifier: Apache-2.0 */
#include "matmul.h"
#include "ways.h"

#include <stdlib.h>

static double *a, *b, *c;
static int n, devices;

static void prepare(int count, int size) {
    n = size, devices = count;
    a = malloc((long)n * n * sizeof *a), b = malloc((long)n * n * sizeof *b), c = malloc((long)n * n * sizeof *c);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) a[(long)i * n + j] = a_at(i, j), b[(long)i * n + j] = b_at(i, j);
    for (int d = 0; d < devices; d++) {
        const int first = first_of(d, devices, n), rows = first_of(d + 1, devices, n) - first;
#pragma acc enter data copyin(a[first * n : rows * n], b[0 : n * n]) create(c[first * n : rows * n]) deviceid(d)
    }
    for (int d = 0; d < devices; d++) {
#pragma acc wait device(d)
    }
}

static void run(int part) {
    for (int d = 0; d < devices; d++) {
        const int first = first_of(d, devices, n), end = first_of(d + 1, devices, n);
#pragma acc parallel loop gang deviceid(d) present(a, b, c)
        for (int i = first; i < end; i++)
#pragma acc loop vector
            for (int j = 0; j < n; j++) {
                double sum = 0;
                for (int k = 0; k < n; k++) sum += a[i * n + k] * b[k * n + j];
                c[i * n + j] = sum;
            }
    }
    for (int d = 0; d < devices; d++) {
#pragma acc wait device(d)
    }
}

static void fetch(double* results) {
    for (int d = 0; d < devices; d++) {
        const int first = first_of(d, devices, n), rows = first_of(d + 1, devices, n) - first;
#pragma acc exit data copyout(c[first * n : rows * n]) delete (a[first * n : rows * n], b[0 : n * n]) deviceid(d)
    }
    for (int d = 0; d < devices; d++) {
#pragma acc wait device(d)
    }
    for (long i = 0; i < (long)n * n; i++) results[i] = c[i];
    free(a), free(b), free(c);
}

const struct way matmul_directives = {"directives", prepare, run, fetch};
