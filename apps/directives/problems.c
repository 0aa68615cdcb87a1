/* SPDX-License-Identifier: Apache-2.0 */
/* What each problem's results have to be, and how much work it is. */
#include "grid.h"
#include "launch.h"
#include "matmul.h"
#include "peer.h"
#include "s3d.h"
#include "stream.h"
#include "ways.h"

#include <stdlib.h>

static double greatest(double one, double other) { return isnan(other) || other > one ? other : one; }

static const char* const whole[] = {"all", 0};

/* Launches */
static double launch_work(int n, int part) { return 1e-9 * LAUNCHES; }
static long launch_count(int n) { return 1; }
static double launch_error(const double* results, int n, int runs) {
    return fabs(results[0] / ((double)runs * LAUNCHES) - 1);
}
const struct problem launch_problem = {
    "launch", "launches", 1, 1, whole, launch_work, launch_count, launch_error, &launch_directives, &launch_opencl, 0};

/* Stream */
static double stream_work(int n, int part) {
    static const int arrays[] = {2, 2, 3, 3, 2};
    return 1e-9 * arrays[part] * sizeof(double) * n;
}
static long stream_count(int n) { return 3 * (long)n + 1; }
static double stream_error(const double* results, int n, int runs) {
    double a = FIRST_A, b = FIRST_B, c = FIRST_C, error = 0;
    for (int run = 0; run < runs; run++) {
        c = a;
        b = SCALAR * c;
        c = a + b;
        a = b + SCALAR * c;
    }
    double squares = 0;
    for (int i = 0; i < n; i++) {
        const double share = share_of(i);
        error = greatest(error, fabs(results[i] / (a * share) - 1));
        error = greatest(error, fabs(results[n + i] / (b * share) - 1));
        error = greatest(error, fabs(results[2 * (long)n + i] / (c * share) - 1));
        squares += share * share;
    }
    return greatest(error, fabs(results[3 * (long)n] / (a * b * squares) - 1));
}
static const char* const stream_parts[] = {"copy", "multiply", "add", "triad", "dot", 0};
const struct problem stream_problem = {
    "stream",           "GB",           1 << 25, 1, stream_parts, stream_work, stream_count, stream_error,
    &stream_directives, &stream_opencl, 0};

/* Grids */
static long grid_count(int n) { return (long)(n + 2) * (n + 2) + 1; }
static double mode_error(const double* results, int n, double factor) {
    double error = 0;
    for (int i = 0; i < n + 2; i++)
        for (int j = 0; j < n + 2; j++)
            error = greatest(error, fabs(results[(long)i * (n + 2) + j] - factor * mode_at(i, j, n)));
    return error;
}
static double jacobi_work(int n, int part) { return 1e-9 * JACOBI_STEPS * n * n; }
static double jacobi_error(const double* results, int n, int runs) {
    const double shrinks = cos(pi / (n + 1));
    const double before = pow(shrinks, (double)runs * JACOBI_STEPS - 1);
    double highest = 0; /* of the mode, at a point */
    for (int i = 1; i <= n; i++) highest = greatest(highest, mode_at(i, i, n));
    const double change = before * (1 - shrinks) * highest;
    return greatest(mode_error(results, n, before * shrinks),
                    fabs(results[(long)(n + 2) * (n + 2)] / change - 1) * 1e-6); /* a small difference of near values */
}
const struct problem jacobi_problem = {
    "jacobi", "points", 4096, 1, whole, jacobi_work, grid_count, jacobi_error, &jacobi_directives, &jacobi_opencl, 0};
static double heat_work(int n, int part) { return 1e-9 * HEAT_STEPS * n * n; }
static double heat_error(const double* results, int n, int runs) {
    const double shrinks = 1 + HEAT_RATE * (4 * cos(pi / (n + 1)) - 4);
    return mode_error(results, n, pow(shrinks, (double)runs * HEAT_STEPS));
}
const struct problem heat_problem = {
    "heat", "points", 4096, 0, whole, heat_work, grid_count, heat_error, &heat_directives, &heat_opencl, &heat_hybrid};

/* Matrices: a product with a vector in two orders. */
static double matmul_work(int n, int part) { return 2e-9 * n * n * n; }
static long matmul_count(int n) { return (long)n * n; }
static double matmul_error(const double* results, int n, int runs) {
    double *const x = malloc(n * sizeof *x), *const bx = calloc(n, sizeof *bx), error = 0;
    for (int j = 0; j < n; j++) x[j] = 1 + j * 17 % 23 / 23.0;
    for (int k = 0; k < n; k++)
        for (int j = 0; j < n; j++) bx[k] += b_at(k, j) * x[j];
    for (int i = 0; i < n; i++) {
        double one = 0, other = 0, size = 1;
        for (int k = 0; k < n; k++) one += a_at(i, k) * bx[k], size += fabs(a_at(i, k) * bx[k]);
        for (int j = 0; j < n; j++) other += results[(long)i * n + j] * x[j];
        error = greatest(error, fabs(one - other) / size);
    }
    free(x), free(bx);
    return error;
}
const struct problem matmul_problem = {
    "matmul",           "FLOP",         2048,          0, whole, matmul_work, matmul_count, matmul_error,
    &matmul_directives, &matmul_opencl, &matmul_hybrid};

/* Mixtures */
static double s3d_work(int n, int part) { return 1e-9 * SPECIES * n * (10 + 15); }
static long s3d_count(int n) { return 2 * (long)n; }
static double s3d_error(const double* results, int n, int runs) {
    double error = 0;
    for (int m = 0; m < n; m += 1 + n / 100000) { /* pow() takes long */
        const double t = temperature_at(m);
        double capacity = 0, enthalpy = 0;
        for (int s = 0; s < SPECIES; s++) {
            double cp = 0, h = coefficient(t > MIDDLE, s, 5);
            for (int power = 0; power < 5; power++) {
                cp += coefficient(t > MIDDLE, s, power) * pow(t, power);
                h += coefficient(t > MIDDLE, s, power) * pow(t, power + 1) / (power + 1);
            }
            capacity += fraction_at(s, m) * cp;
            enthalpy += fraction_at(s, m) * h;
        }
        error = greatest(error, fabs(results[m] / capacity - 1));
        error = greatest(error, fabs(results[n + m] / enthalpy - 1));
    }
    return error;
}
const struct problem s3d_problem = {"s3d",     "FLOP",    1 << 21,         0,           whole,      s3d_work,
                                    s3d_count, s3d_error, &s3d_directives, &s3d_opencl, &s3d_hybrid};

/* Copies between two devices: the engine's own command is the limit. */
static double peer_work(int n, int part) { return 1e-9 * sizeof(double) * peer_size(n, part); }
static long peer_count(int n) { return peer_first(n, peer_part_count); }
static double peer_error(const double* results, int n, int runs) {
    double error = 0;
    for (int part = 0; part < peer_part_count; part++) {
        const int first = peer_first(n, part), last = first + peer_size(n, part) - 1;
        for (int i = first; i <= last; i++) {
            const double added = (double)runs * ((i == first) + (i == last));
            error = greatest(error, fabs(results[i] / (peer_value(i) + added) - 1));
        }
    }
    return error;
}
static const char* const peer_parts[] = {"1/1024", "1/64", "1/8", "all", 0};
const struct problem peer_problem = {
    "peer", "GB", 1 << 25, 2, peer_parts, peer_work, peer_count, peer_error, &peer_directives, &peer_opencl, 0, 2};
