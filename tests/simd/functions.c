// SPDX-License-Identifier: Apache-2.0
// Functions of `omp declare simd` with branches and loops of their own, called in loops of `omp simd`. Compiled twice:
// as NAME(x) x##_vector with the plug-in, and as x##_scalar without; functions_main.c compares.
#include "functions.h"

#define BOTH _Pragma("omp declare simd") static

// The paper's Algorithm 5.
#pragma omp declare simd uniform(max_iter)
static int mandel(float c_re, float c_im, int max_iter) {
    float z_re = c_re, z_im = c_im;
    int i;
    for (i = 0; i < max_iter; i++) {
        if (z_re * z_re + z_im * z_im > 4.f) break;
        float new_re = z_re * z_re - z_im * z_im;
        float new_im = 2.f * z_re * z_im;
        z_re = c_re + new_re;
        z_im = c_im + new_im;
    }
    return i;
}

// Two ways out of a loop in a loop, one of them out of both.
BOTH int found(int x, int y) {
    int steps = 0;
    for (int i = 0; i < (x & 7); i++)
        for (int j = 0; j < 9; j++) {
            if ((i * j + y) % 11 == 5) return steps * 100 + j;
            if (j > (y & 7)) break;
            steps += i + 1;
        }
    return steps;
}

// Lanes that are not here must not divide, neither by 0 nor the least number by -1.
BOTH int divided(int x, int y) {
    int sum = 0;
    while (x > 0) {
        if (y != 0) sum += x / y + x % y;
        x -= 3, y = (y + 5) % 9 - 4;
    }
    return sum;
}

// Memory, of which each lane reads what it may.
#pragma omp declare simd uniform(table, size)
static double looked_up(const double* table, int size, int from, double least) {
    double sum = 0;
    for (int i = from; i < size && table[i] >= least; i += 3) sum += table[i];
    return sum;
}

#pragma omp declare simd linear(i) uniform(n)
static int counted(int i, int n) {
    int steps = 0;
    for (unsigned v = (unsigned)i + 1; v != 1 && steps < n; steps++) v = v % 2 ? 3 * v + 1 : v / 2;
    return steps;
}

// Variables of several widths, a switch, and functions of the compiler's own.
BOTH float mixed(float x, short kind) {
    float sum = 0;
    for (unsigned char i = 0; i < 20; i++) {
        switch (kind & 3) {
        case 0: sum += __builtin_fabsf(x) + i; break;
        case 1: sum -= __builtin_sqrtf(__builtin_fabsf(x)); break;
        case 2:
            if (sum > 50) return sum;
            sum += x * x;
            break;
        default: kind++; continue;
        }
        if (sum > 1e6f) break;
        x += kind;
    }
    return sum;
}

#pragma omp declare simd inbranch
static int seldom(int x) {
    int bits = 0;
    while (x) x &= x - 1, bits++;
    return bits;
}

void NAME(functions)(struct data* of, int n) {
#pragma omp simd
    for (int i = 0; i < n; i++) of->a[i] = mandel(of->x[i], of->y[i], 50);
#pragma omp simd
    for (int i = 0; i < n; i++) of->b[i] = found(of->p[i], of->q[i]);
#pragma omp simd
    for (int i = 0; i < n; i++) of->c[i] = divided(of->p[i], of->q[i]);
#pragma omp simd
    for (int i = 0; i < n; i++) of->d[i] = looked_up(of->table, 64, of->p[i] & 63, of->x[i] * 0.1);
#pragma omp simd
    for (int i = 0; i < n; i++) of->e[i] = counted(i, 200);
#pragma omp simd
    for (int i = 0; i < n; i++) of->f[i] = mixed(of->x[i], (short)of->p[i]);
#pragma omp simd
    for (int i = 0; i < n; i++)
        if (of->q[i] & 4) of->g[i] = seldom(of->p[i]);
}
