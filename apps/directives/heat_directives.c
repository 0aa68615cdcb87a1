/* SPDX-License-Identifier: Apache-2.0 */
#include "grid.h"
#include "ways.h"

#include <stdlib.h>

static double *u, *v;
static int n, w, devices;

static void prepare(int count, int size) {
    n = size, w = n + 2, devices = count;
    u = malloc((long)w * w * sizeof *u), v = malloc((long)w * w * sizeof *v);
    for (int i = 0; i < w; i++)
        for (int j = 0; j < w; j++) u[(long)i * w + j] = v[(long)i * w + j] = mode_at(i, j, n);
    for (int d = 0; d < devices; d++) {
        const int first = first_of(d, devices, n), rows = first_of(d + 1, devices, n) - first + 2;
#pragma acc enter data copyin(u[first * w : rows * w], v[first * w : rows * w]) deviceid(d)
    }
    for (int d = 0; d < devices; d++) {
#pragma acc wait device(d)
    }
}

enum { EDGES = 1, INNER = 2 }; /* queues */

/* New values of each `apart`th row from `first` to `last`, behind what the queue `other` has now. */
static void next_rows(int d, int first, int last, int apart, int queue, int other) {
#pragma acc parallel loop gang deviceid(d) async(queue) wait(other) present(u, v)
    for (int i = first; i <= last; i += apart)
#pragma acc loop vector
        for (int j = 1; j <= n; j++)
            v[i * w + j] = u[i * w + j] + HEAT_RATE * (u[(i - 1) * w + j] + u[(i + 1) * w + j] + u[i * w + j - 1] +
                                                       u[i * w + j + 1] - 4 * u[i * w + j]);
}

static void run(int part) {
    for (int step = 0; step < HEAT_STEPS; step++) {
        for (int d = 0; d < devices; d++) {
            const int first = first_of(d, devices, n) + 1, last = first_of(d + 1, devices, n);
            const int edges = devices > 1 && last > first;
            if (edges) next_rows(d, first, last, last - first, EDGES, INNER);
            next_rows(d, first + edges, last - edges, 1, edges ? INNER : EDGES, edges ? EDGES : INNER);
        }
        /* The neighbours' edges travel while the inner rows are computed. */
        for (int d = 0; d + 1 < devices; d++) {
            const int last = first_of(d + 1, devices, n);
#pragma acc update peer to(v[last * w : w]) to_device(d + 1) from(v[last * w : w]) from_device(d) async(EDGES)
#pragma acc update peer to(v[(last + 1) * w : w]) to_device(d) from(v[(last + 1) * w : w]) from_device(d + 1)          \
    async(EDGES)
        }
        double* const old = u;
        u = v, v = old;
    }
    for (int d = 0; d < devices; d++) {
#pragma acc wait device(d)
    }
}

static void fetch(double* results) {
    for (int d = 0; d < devices; d++) {
        const int first = first_of(d, devices, n), rows = first_of(d + 1, devices, n) - first;
#pragma acc update self(u[(first + 1) * w : rows * w]) deviceid(d)
#pragma acc exit data delete (u[first * w : (rows + 2) * w], v[first * w : (rows + 2) * w]) deviceid(d)
    }
    for (int d = 0; d < devices; d++) {
#pragma acc wait device(d)
    }
    for (long i = 0; i < (long)w * w; i++) results[i] = u[i];
    free(u), free(v);
}

const struct way heat_directives = {"directives", prepare, run, fetch};
