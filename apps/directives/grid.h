/* SPDX-License-Identifier: Apache-2.0 */
/* A square of n x n points within a border of zeros. Its lowest mode only shrinks, by the same factor in every step. */
#include <math.h>

static const double pi = 3.14159265358979323846;
static inline double mode_at(int i, int j, int n) { return sin(pi * i / (n + 1)) * sin(pi * j / (n + 1)); }
#define HEAT_RATE 0.2
#define HEAT_STEPS 50
#define JACOBI_STEPS 50
