/* SPDX-License-Identifier: Apache-2.0 */
#include "launch.h"
#include "ways.h"

static int counted[1];

static void prepare(int devices, int n) {
    counted[0] = 0;
#pragma acc enter data copyin(counted)
}

static void run(int part) {
    for (int launch = 0; launch < LAUNCHES; launch++) {
#pragma acc parallel num_gangs(1) present(counted)
        counted[0] += 1;
    }
}

static void fetch(double* results) {
#pragma acc exit data copyout(counted)
    results[0] = counted[0];
}

const struct way launch_directives = {"directives", prepare, run, fetch};
