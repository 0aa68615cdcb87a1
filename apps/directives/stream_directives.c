/* SPDX-License-Identifier: Apache-2.0 */
#include "stream.h"
#include "ways.h"

#include <stdlib.h>

static double *a, *b, *c, sum;
static int n;

static void prepare(int devices, int count) {
    n = count;
    a = malloc(n * sizeof *a), b = malloc(n * sizeof *b), c = malloc(n * sizeof *c);
#pragma acc enter data create(a[0 : n], b[0 : n], c[0 : n])
#pragma acc parallel loop present(a[0 : n], b[0 : n], c[0 : n])
    for (int i = 0; i < n; i++) {
        a[i] = FIRST_A * share_of(i);
        b[i] = FIRST_B * share_of(i);
        c[i] = FIRST_C * share_of(i);
    }
}

static void run(int part) {
    switch (part) {
    case COPY:
#pragma acc parallel loop present(a[0 : n], c[0 : n])
        for (int i = 0; i < n; i++) c[i] = a[i];
        break;
    case MULTIPLY:
#pragma acc parallel loop present(b[0 : n], c[0 : n])
        for (int i = 0; i < n; i++) b[i] = SCALAR * c[i];
        break;
    case ADD:
#pragma acc parallel loop present(a[0 : n], b[0 : n], c[0 : n])
        for (int i = 0; i < n; i++) c[i] = a[i] + b[i];
        break;
    case TRIAD:
#pragma acc parallel loop present(a[0 : n], b[0 : n], c[0 : n])
        for (int i = 0; i < n; i++) a[i] = b[i] + SCALAR * c[i];
        break;
    case DOT: sum = 0;
#pragma acc parallel loop present(a[0 : n], b[0 : n]) reduction(+ : sum)
        for (int i = 0; i < n; i++) sum += a[i] * b[i];
    }
}

static void fetch(double* results) {
#pragma acc exit data copyout(a[0 : n], b[0 : n], c[0 : n])
    for (int i = 0; i < n; i++) results[i] = a[i], results[n + i] = b[i], results[2 * n + i] = c[i];
    results[3 * (long)n] = sum;
    free(a), free(b), free(c);
}

const struct way stream_directives = {"directives", prepare, run, fetch};
