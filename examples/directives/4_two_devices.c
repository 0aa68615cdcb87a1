/* SPDX-License-Identifier: Apache-2.0 */
/* Each of two devices has half of the rod; the points at the cut go by way of the host. */
#include <stdio.h>
#include <stdlib.h>

enum { n = 1 << 16, steps = 100 };

int main(void) {
    double *u = calloc(n + 2, sizeof *u), *v = calloc(n + 2, sizeof *v);
    for (int i = 1; i <= n; i++) u[i] = i % 1000;

    for (int d = 0; d < 2; d++) {
#pragma acc enter data copyin(u[d * n / 2 : n / 2 + 2], v[d * n / 2 : n / 2 + 2]) deviceid(d)
    }
    for (int step = 0; step < steps; step++) {
        for (int d = 0; d < 2; d++) {
#pragma acc parallel loop present(u, v) deviceid(d)
            for (int i = d * n / 2 + 1; i <= (d + 1) * n / 2; i++) v[i] = 0.5 * u[i] + 0.25 * (u[i - 1] + u[i + 1]);
        }
#pragma acc update self(v[n / 2 : 1]) deviceid(0)
#pragma acc update self(v[n / 2 + 1 : 1]) deviceid(1)
        for (int d = 0; d < 2; d++) {
#pragma acc wait device(d)
        }
#pragma acc update device(v[n / 2 : 1]) deviceid(1)
#pragma acc update device(v[n / 2 + 1 : 1]) deviceid(0)
        double* const old = u;
        u = v, v = old;
    }
    for (int d = 0; d < 2; d++) {
#pragma acc exit data copyout(u[d * n / 2 + 1 : n / 2]) deviceid(d)
#pragma acc exit data delete (v[d * n / 2 : n / 2 + 2]) deviceid(d)
    }
    for (int d = 0; d < 2; d++) {
#pragma acc wait device(d)
    }

    double sum = 0;
    for (int i = 1; i <= n; i++) sum += u[i];
    printf("sum %.6f, middle %.6f\n", sum, u[n / 2]);
    free(u), free(v);
    return 0;
}
