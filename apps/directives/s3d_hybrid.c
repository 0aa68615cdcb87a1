/* SPDX-License-Identifier: Apache-2.0 */
/* Algorithm 2 of the paper: a host thread and a device for each of the two kernels, and a copy of their data on both.
 */
#include "s3d.h"
#include "ways.h"

#include <openacc.h>
#include <stdlib.h>

static double *temperature, *fraction, *capacity, *enthalpy, polynomial[2][SPECIES][7];
static int n, devices;

static void prepare(int count, int points) {
    n = points, devices = count;
    temperature = malloc(n * sizeof(double)), fraction = malloc((long)n * SPECIES * sizeof(double));
    capacity = malloc(n * sizeof(double)), enthalpy = malloc(n * sizeof(double));
    for (int range = 0; range < 2; range++)
        for (int s = 0; s < SPECIES; s++)
            for (int power = 0; power < 7; power++) polynomial[range][s][power] = coefficient(range, s, power);
    for (int m = 0; m < n; m++) {
        temperature[m] = temperature_at(m);
        for (int s = 0; s < SPECIES; s++) fraction[s * n + m] = fraction_at(s, m);
    }
#pragma omp parallel sections num_threads(2)
    {
#pragma omp section
        {
            acc_set_device_num(0, acc_device_not_host);
#pragma acc enter data copyin(temperature[0 : n], fraction[0 : n * SPECIES], polynomial) create(capacity[0 : n])
        }
#pragma omp section
        {
            acc_set_device_num(devices > 1, acc_device_not_host);
#pragma acc enter data copyin(temperature[0 : n], fraction[0 : n * SPECIES], polynomial) create(enthalpy[0 : n])
        }
    }
}

static void mix_capacity(void) {
#pragma acc parallel loop present(temperature, fraction, capacity, polynomial)
    for (int m = 0; m < n; m++) {
        const double t = temperature[m];
        const int range = t > MIDDLE;
        double sum = 0;
        for (int s = 0; s < SPECIES; s++)
            sum += fraction[s * n + m] *
                   (polynomial[range][s][0] +
                    t * (polynomial[range][s][1] +
                         t * (polynomial[range][s][2] + t * (polynomial[range][s][3] + t * polynomial[range][s][4]))));
        capacity[m] = sum;
    }
}

static void mix_enthalpy(void) {
#pragma acc parallel loop present(temperature, fraction, enthalpy, polynomial)
    for (int m = 0; m < n; m++) {
        const double t = temperature[m];
        const int range = t > MIDDLE;
        double sum = 0;
        for (int s = 0; s < SPECIES; s++)
            sum += fraction[s * n + m] *
                   (polynomial[range][s][5] +
                    t * (polynomial[range][s][0] +
                         t * (polynomial[range][s][1] / 2 +
                              t * (polynomial[range][s][2] / 3 +
                                   t * (polynomial[range][s][3] / 4 + t * polynomial[range][s][4] / 5)))));
        enthalpy[m] = sum;
    }
}

static void run(int part) {
#pragma omp parallel sections num_threads(2)
    {
#pragma omp section
        {
            acc_set_device_num(0, acc_device_not_host);
            mix_capacity();
        }
#pragma omp section
        {
            acc_set_device_num(devices > 1, acc_device_not_host);
            mix_enthalpy();
        }
    }
}

static void fetch(double* results) {
#pragma omp parallel sections num_threads(2)
    {
#pragma omp section
        {
            acc_set_device_num(0, acc_device_not_host);
#pragma acc exit data copyout(capacity[0 : n]) delete (temperature[0 : n], fraction[0 : n * SPECIES], polynomial)
        }
#pragma omp section
        {
            acc_set_device_num(devices > 1, acc_device_not_host);
#pragma acc exit data copyout(enthalpy[0 : n]) delete (temperature[0 : n], fraction[0 : n * SPECIES], polynomial)
        }
    }
    for (int m = 0; m < n; m++) results[m] = capacity[m], results[n + m] = enthalpy[m];
    free(temperature), free(fraction), free(capacity), free(enthalpy);
}

const struct way s3d_hybrid = {"hybrid", prepare, run, fetch};
