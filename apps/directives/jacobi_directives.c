/* SPDX-License-Identifier: Apache-2.0 */
#include "grid.h"
#include "ways.h"

#include <stdlib.h>

static double *u, *v, change;
static int n, w;

static void prepare(int devices, int size) {
    n = size, w = n + 2;
    u = malloc((long)w * w * sizeof *u), v = malloc((long)w * w * sizeof *v);
    for (int i = 0; i < w; i++)
        for (int j = 0; j < w; j++) u[(long)i * w + j] = v[(long)i * w + j] = mode_at(i, j, n);
#pragma acc enter data copyin(u[0 : w * w], v[0 : w * w])
}

static void run(int part) {
    for (int step = 0; step < JACOBI_STEPS; step++) {
        change = 0;
#pragma acc parallel loop gang present(u[0 : w * w], v[0 : w * w]) reduction(max : change)
        for (int i = 1; i <= n; i++)
#pragma acc loop vector reduction(max : change)
            for (int j = 1; j <= n; j++) {
                v[i * w + j] = 0.25 * (u[(i - 1) * w + j] + u[(i + 1) * w + j] + u[i * w + j - 1] + u[i * w + j + 1]);
                change = fmax(change, fabs(v[i * w + j] - u[i * w + j]));
            }
        double* const old = u;
        u = v, v = old;
    }
}

static void fetch(double* results) {
#pragma acc exit data copyout(u[0 : w * w]) delete (v[0 : w * w])
    for (long i = 0; i < (long)w * w; i++) results[i] = u[i];
    results[(long)w * w] = change;
    free(u), free(v);
}

const struct way jacobi_directives = {"directives", prepare, run, fetch};
