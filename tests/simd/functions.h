// SPDX-License-Identifier: Apache-2.0
// What functions.c computes, and from what.
#pragma once
enum { most = 300 };
struct data {
    float x[most], y[most];
    int p[most], q[most];
    double table[64];
    int a[most], b[most], c[most];
    double d[most];
    int e[most];
    float f[most];
    int g[most];
};
