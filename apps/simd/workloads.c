// SPDX-License-Identifier: Apache-2.0
// The paper's workloads (section 6.1) and Mandelbrot (section 7), as a programmer writes them. Compiled once without
// vectors, once with the plug-in.
#include "workloads.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { bodies = 1000 };

// Forces between all pairs of bodies: the input has x, y, z and mass, `bodies` of each, the output three components of
// the force.
static void n_body(const float* restrict in, float* restrict out, int first, int last) {
    const float *x = in, *y = in + bodies, *z = in + 2 * bodies, *mass = in + 3 * bodies;
    for (int i = first; i < last; ++i) {
        float fx = 0, fy = 0, fz = 0;
        for (int j = 0; j < bodies; ++j) {
            const float dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
            const float square = dx * dx + dy * dy + dz * dz + 0.01f;
            const float scale = mass[j] / (square * sqrtf(square));
            fx += scale * dx, fy += scale * dy, fz += scale * dz;
        }
        out[3 * i] = fx, out[3 * i + 1] = fy, out[3 * i + 2] = fz;
    }
}

enum { image = 250, apron = 4, pitch = image + apron };

// A 5 x 5 filter over an image; the input is the filter, then the image with its apron.
static void convolution_2d(const float* restrict in, float* restrict out, int first, int last) {
    const float *filter = in, *pixels = in + 25;
    for (int row = first; row < last; ++row)
        for (int column = 0; column < image; ++column) {
            float sum = 0;
            for (int y = 0; y < 5; ++y)
                for (int x = 0; x < 5; ++x) sum += filter[5 * y + x] * pixels[(row + y) * pitch + column + x];
            out[row * image + column] = sum;
        }
}

enum { angles = 60, detector = 300, slice = 190 };

// Projections of all angles, smeared back over a slice, with linear interpolation between detectors.
static void back_projection(const float* restrict in, float* restrict out, int first, int last) {
    for (int row = first; row < last; ++row) {
        float line[slice];
        memset(line, 0, sizeof line);
        for (int a = 0; a < angles; ++a) {
            const float* projection = in + a * detector;
            const float angle = (float)a * (3.14159265f / angles), cosine = cosf(angle), sine = sinf(angle);
            const float start = (float)(row - slice / 2) * sine + detector / 2;
            for (int column = 0; column < slice; ++column) {
                const float position = start + (float)(column - slice / 2) * cosine;
                const int index = (int)position;
                const float part = position - (float)index;
                line[column] += projection[index] * (1 - part) + projection[index + 1] * part;
            }
        }
        memcpy(out + row * slice, line, sizeof line);
    }
}

enum { samples = 20000, taps = 31 };

// A radar's filter: complex samples, first all real parts and then the others, behind 31 taps.
static void convolution_1d(const float* restrict in, float* restrict out, int first, int last) {
    const float *tap = in, *real = in + 2 * taps, *imaginary = real + samples + taps;
    for (int i = first; i < last; ++i) {
        float re = 0, im = 0;
        for (int k = 0; k < taps; ++k) {
            re += tap[k] * real[i + k] - tap[taps + k] * imaginary[i + k];
            im += tap[k] * imaginary[i + k] + tap[taps + k] * real[i + k];
        }
        out[2 * i] = re, out[2 * i + 1] = im;
    }
}

enum { levels = 12, nodes = (1 << levels) - 1, queries = 20000 };

// Searches in a tree whose nodes lie level by level; the output is where each query's search ends.
static void tree_search(const float* restrict in, float* restrict out, int first, int last) {
    const float *keys = in, *query = in + nodes;
    for (int q = first; q < last; ++q) {
        unsigned node = 0;
        const float sought = query[q];
        for (int level = 0; level < levels; ++level) node = 2 * node + 1 + (keys[node] < sought);
        out[q] = (float)node;
    }
}

enum { width = 256, height = 128, most = 200 };

// Algorithm 5, as the paper has it: a loop of `omp simd` calls a function whose own loop ends early. In the same order
// of operations one by one and in lanes, as a rounding may decide when a point leaves.
#pragma omp declare simd uniform(steps)
static int mandel(float c_re, float c_im, int steps) {
#pragma clang fp contract(off) reassociate(off)
    float z_re = c_re, z_im = c_im;
    int i;
    for (i = 0; i < steps; ++i) {
        if (z_re * z_re + z_im * z_im > 4.0f) break;
        const float next_re = z_re * z_re - z_im * z_im, next_im = 2.0f * z_re * z_im;
        z_re = c_re + next_re;
        z_im = c_im + next_im;
    }
    return i;
}

static void mandelbrot(const float* restrict in, float* restrict out, int first, int last) {
    (void)in;
    for (int row = first; row < last; ++row) {
        const float c_im = 1.0f - (float)row * (2.0f / height);
#pragma omp simd
        for (int column = 0; column < width; ++column)
            out[row * width + column] = (float)mandel(-2.0f + (float)column * (3.0f / width), c_im, most);
    }
}

// The micro-benchmark of Figure 3: rows of 31 numbers.
static void short_rows(const float* restrict in, float* restrict out, int first, int last) {
    for (int row = first; row < last; ++row)
        for (int i = 0; i < 31; ++i) out[row * 31 + i] = in[row * 31 + i] + in[31000 + row * 31 + i];
}

// That of Figure 5: pairs of products of 4 x 4 matrices.
static void matrix_pairs(const float* restrict in, float* restrict out, int first, int last) {
    for (int m = first; m < last; ++m) {
        const float(*a)[4] = (const float(*)[4])(in + 32 * m), (*b)[4] = (const float(*)[4])(in + 32 * m + 16);
        float(*restrict c)[4] = (float(*)[4])(out + 32 * m), (*restrict d)[4] = (float(*)[4])(out + 32 * m + 16);
        for (int j = 0; j < 4; ++j)
            for (int k = 0; k < 4; ++k) {
                float x = 0, y = 0;
                for (int i = 0; i < 4; ++i) {
                    x += a[i][k] * b[i][j];
                    y += a[i][k] * b[j][i];
                }
                c[k][j] = x;
                d[j][k] = y;
            }
    }
}

const struct workload TABLE[] = {
    {"n-body", bodies, n_body, 4 * bodies, 3 * bodies, 1e-4},
    {"5x5 convolution", image, convolution_2d, 25 + pitch* pitch, image* image, 1e-5},
    {"back projection", slice, back_projection, angles* detector, slice* slice, 1e-3},
    {"1-D convolution", samples, convolution_1d, 2 * taps + 2 * (samples + taps), 2 * samples, 1e-4},
    {"tree search", queries, tree_search, nodes + queries, queries, 0},
    {"Mandelbrot", height, mandelbrot, 1, width* height, 0},
    {"rows of 31", 1000, short_rows, 62000, 31000, 0},
    {"matrix pairs", 500, matrix_pairs, 16000, 16000, 1e-5},
    {0, 0, 0, 0, 0, 0},
};
