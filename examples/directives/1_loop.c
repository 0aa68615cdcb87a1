/* SPDX-License-Identifier: Apache-2.0 */
/* A rod whose heat spreads, by a serial loop. */
#include <stdio.h>
#include <stdlib.h>

enum { n = 1 << 16, steps = 100 };

int main(void) {
    double *u = calloc(n + 2, sizeof *u), *v = calloc(n + 2, sizeof *v);
    for (int i = 1; i <= n; i++) u[i] = i % 1000;

    for (int step = 0; step < steps; step++) {
        for (int i = 1; i <= n; i++) v[i] = 0.5 * u[i] + 0.25 * (u[i - 1] + u[i + 1]);
        double* const old = u;
        u = v, v = old;
    }

    double sum = 0;
    for (int i = 1; i <= n; i++) sum += u[i];
    printf("sum %.6f, middle %.6f\n", sum, u[n / 2]);
    free(u), free(v);
    return 0;
}
