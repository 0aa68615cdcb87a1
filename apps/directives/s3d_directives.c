/* SPDX-License-Identifier: Apache-2.0 */
#include "s3d.h"
#include "ways.h"

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
    for (int d = 0; d < devices; d++) {
        const int first = first_of(d, devices, n), end = first_of(d + 1, devices, n);
        for (int m = first; m < end; m++) {
            temperature[m] = temperature_at(m);
            /* A device's fractions follow each other, species by species. */
            for (int s = 0; s < SPECIES; s++)
                fraction[first * SPECIES + s * (end - first) + m - first] = fraction_at(s, m);
        }
#pragma acc enter data copyin(temperature[first : end - first], fraction[first * SPECIES : (end - first) * SPECIES],   \
                              polynomial) create(capacity[first : end - first], enthalpy[first : end - first])         \
    deviceid(d)
    }
    for (int d = 0; d < devices; d++) {
#pragma acc wait device(d)
    }
}

static void mix_capacity(int d) {
    const int first = first_of(d, devices, n), end = first_of(d + 1, devices, n);
#pragma acc parallel loop deviceid(d) present(temperature, fraction, capacity, polynomial)
    for (int m = first; m < end; m++) {
        const double t = temperature[m];
        const int range = t > MIDDLE;
        double sum = 0;
        for (int s = 0; s < SPECIES; s++)
            sum += fraction[first * SPECIES + s * (end - first) + m - first] *
                   (polynomial[range][s][0] +
                    t * (polynomial[range][s][1] +
                         t * (polynomial[range][s][2] + t * (polynomial[range][s][3] + t * polynomial[range][s][4]))));
        capacity[m] = sum;
    }
}

static void mix_enthalpy(int d) {
    const int first = first_of(d, devices, n), end = first_of(d + 1, devices, n);
#pragma acc parallel loop deviceid(d) present(temperature, fraction, enthalpy, polynomial)
    for (int m = first; m < end; m++) {
        const double t = temperature[m];
        const int range = t > MIDDLE;
        double sum = 0;
        for (int s = 0; s < SPECIES; s++)
            sum += fraction[first * SPECIES + s * (end - first) + m - first] *
                   (polynomial[range][s][5] +
                    t * (polynomial[range][s][0] +
                         t * (polynomial[range][s][1] / 2 +
                              t * (polynomial[range][s][2] / 3 +
                                   t * (polynomial[range][s][3] / 4 + t * polynomial[range][s][4] / 5)))));
        enthalpy[m] = sum;
    }
}

static void run(int part) {
    for (int d = 0; d < devices; d++) mix_capacity(d), mix_enthalpy(d);
    for (int d = 0; d < devices; d++) {
#pragma acc wait device(d)
    }
}

static void fetch(double* results) {
    for (int d = 0; d < devices; d++) {
        const int first = first_of(d, devices, n), points = first_of(d + 1, devices, n) - first;
#pragma acc exit data copyout(capacity[first : points], enthalpy[first : points]) delete (                             \
    temperature[first : points], fraction[first * SPECIES : points * SPECIES], polynomial) deviceid(d)
    }
    for (int d = 0; d < devices; d++) {
#pragma acc wait device(d)
    }
    for (int m = 0; m < n; m++) results[m] = capacity[m], results[n + m] = enthalpy[m];
    free(temperature), free(fraction), free(capacity), free(enthalpy);
}

const struct way s3d_directives = {"directives", prepare, run, fetch};
