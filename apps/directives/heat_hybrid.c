/* SPDX-License-Identifier: Apache-2.0 */
/* A host thread for each device, and rows that go by way of the host: what the standard offers. */
#include "grid.h"
#include "ways.h"

#include <omp.h>
#include <openacc.h>
#include <stdlib.h>

static double *u, *v;
static int n, w, devices;

static void prepare(int count, int size) {
    n = size, w = n + 2, devices = count;
    u = malloc((long)w * w * sizeof *u), v = malloc((long)w * w * sizeof *v);
    for (int i = 0; i < w; i++)
        for (int j = 0; j < w; j++) u[(long)i * w + j] = v[(long)i * w + j] = mode_at(i, j, n);
#pragma omp parallel num_threads(devices)
    {
        const int d = omp_get_thread_num();
        const int first = first_of(d, devices, n), rows = first_of(d + 1, devices, n) - first + 2;
        acc_set_device_num(d, acc_device_not_host);
#pragma acc enter data copyin(u[first * w : rows * w], v[first * w : rows * w])
    }
}

static void run(int part) {
#pragma omp parallel num_threads(devices)
    {
        const int d = omp_get_thread_num();
        const int first = first_of(d, devices, n) + 1, last = first_of(d + 1, devices, n);
        double *from = u, *to = v;
        acc_set_device_num(d, acc_device_not_host);
        for (int step = 0; step < HEAT_STEPS; step++) {
#pragma acc parallel loop gang present(from, to)
            for (int i = first; i <= last; i++)
#pragma acc loop vector
                for (int j = 1; j <= n; j++)
                    to[i * w + j] = from[i * w + j] +
                                    HEAT_RATE * (from[(i - 1) * w + j] + from[(i + 1) * w + j] + from[i * w + j - 1] +
                                                 from[i * w + j + 1] - 4 * from[i * w + j]);
            if (d > 0) {
#pragma acc update host(to[first * w : w])
            }
            if (d + 1 < devices) {
#pragma acc update host(to[last * w : w])
            }
#pragma omp barrier
            if (d > 0) {
#pragma acc update device(to[(first - 1) * w : w])
            }
            if (d + 1 < devices) {
#pragma acc update device(to[(last + 1) * w : w])
            }
#pragma omp barrier
            double* const old = from;
            from = to, to = old;
        }
    }
    if (HEAT_STEPS % 2) {
        double* const old = u;
        u = v, v = old;
    }
}

static void fetch(double* results) {
#pragma omp parallel num_threads(devices)
    {
        const int d = omp_get_thread_num();
        const int first = first_of(d, devices, n), rows = first_of(d + 1, devices, n) - first;
        acc_set_device_num(d, acc_device_not_host);
#pragma acc update host(u[(first + 1) * w : rows * w])
#pragma acc exit data delete (u[first * w : (rows + 2) * w], v[first * w : (rows + 2) * w])
    }
    for (long i = 0; i < (long)w * w; i++) results[i] = u[i];
    free(u), free(v);
}

const struct way heat_hybrid = {"hybrid", prepare, run, fetch};
