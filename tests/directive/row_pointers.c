/* SPDX-License-Identifier: Apache-2.0 */
/* Pointers to rows: arithmetic counts rows, and functions take rows of any memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 6, M = 4 };
static int wrong;
static double out[2][N];

static double sum_of(const double (*a)[M], int rows) {
    double s = 0;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < M; j++) s += a[i][j] * (i + 1);
    return s;
}
static double sum_of_row(int m, const double (*a)[m]) {
    double s = 0;
    for (int j = 0; j < m; j++) s = s * 2 + (*a)[j];
    return s;
}
static double through(const double p[][M], int k) { return sum_of(p + k, 1) + sum_of(&p[k], 1) + **(p + k); }
static double first(const double* p) { return *p; }
static double trace(double a[3][3]) { return a[0][0] + a[1][1] * 2 + a[2][2] * 4; }
static double trace_of(int n, double a[n][n]) {
    double s = 0;
    for (int i = 0; i < n; i++) s = s * 2 + a[i][i];
    return s;
}
static double again(double* a) { return trace((double(*)[3])a) + trace_of(3, (double(*)[3])a); }

struct block {
    int n;
    double m[3][3];
};

/* Each expression, on the device and on the host. */
#define SAME(name, ...)                                                                                                \
    static void name(int m, double(*G)[M], double(*A)[m], double(*D)[2][M], double* flat) {                            \
        for (int way = 0; way < 2; way++) {                                                                            \
            memset(out[way], 0, sizeof out[way]);                                                                      \
            _Pragma("acc parallel loop copy(out) if(way == 0)") for (int i = 0; i < N - 1; i++) { __VA_ARGS__ }        \
        }                                                                                                              \
        if (memcmp(out[0], out[1], sizeof out[0])) printf("%s differs\n", #name), wrong = 1;                           \
    }

SAME(sums, out[way][i] = sum_of(G + i, 2) + sum_of(4 - i + G, 1) + sum_of(G + 4 - i, 1) + sum_of(&G[i], 2);)
SAME(differences, double (*p)[M] = G + i, (*q)[M] = &G[4];
     out[way][i] = (q - p) * 10 + (&p[1] - G) + (p < q) + (p == &G[4]) + (p + 1 - q);)
SAME(of_any_length, out[way][i] = sum_of_row(m, A + i) + sum_of_row(m, &A[i + 1]) + (&A[i] - A);)
SAME(elements, out[way][i] = (*(G + i))[2] + *(*(G + i) + 1) * 3 + (G + i)[1][2] * 5 + **(G + i) + first(*(G + i)) * 7;)
SAME(deep, out[way][i] = (*(D + 1))[i % 2][3] + sum_of(D[1] + i % 2, 1) + D[i % 2][1][2] + sum_of(*(D + i % 2), 2);)
SAME(choices, out[way][i] = sum_of(i % 2 ? G + i : D[1], 1) + through((const double (*)[M])G, i);)
SAME(moving, double (*p)[M] = G; p += i; out[way][i] = p[0][1]; p++; out[way][i] += (*p)[2]; --p;
     out[way][i] += (*p++)[0]; p -= 1; out[way][i] += p[1][3]; out[way][i] += (*++p)[1];)
SAME(of_the_thread, double loc[3][3] = {{1, 2, 3}, {4, i, 6}, {7, 8, 9}}, nine[9] = {i, 2, 3, 4, 5};
     struct block x = {3, {{i, 2}, {3, 4}}}, *y = &x; double three[2][3][3] = {{{i}, {2, 3}}, {{4, 5, i}, {6, 7}}};
     out[way][i] = trace(loc) + trace_of(3, loc) + trace(x.m) + trace(y->m) + trace(three[1]) + again(nine) +
                   first(loc[1]) + first(*(loc + 1)) + (*(three + 1))[1][0] + **loc;)
SAME(casts, double (*v)[m] = (double (*)[m])flat; double (*w)[2] = (double (*)[2])flat;
     out[way][i] = v[i][1] + w[2 * i][1] * 3 + ((double (*)[m])flat)[i][2] + sum_of_row(m, v + i);)

/* Without a clause: which rows are used. */
static void inferred(int m, double (*G)[M], double (*A)[m]) {
    double was[N][M];
    memcpy(was, G, sizeof was);
#pragma acc parallel loop
    for (int i = 1; i < N - 1; i++) {
        double(*p)[M] = G + i;
        p[1][0] = A[i][2] + A[i - 1][0];
    }
    for (int i = 1; i < N - 1; i++)
        if (G[i + 1][0] != A[i][2] + A[i - 1][0]) printf("inferred: row %d is wrong\n", i + 1), wrong = 1;
    memcpy(G, was, sizeof was);
#pragma acc kernels
    for (int i = 0; i < N - 1; i++) {
        double(*p)[M] = G + i;
        p[1][1] = p[0][1] + 1;
    }
    for (int i = 0; i < N; i++)
        if (G[i][1] != was[0][1] + i) printf("kernels: row %d is wrong\n", i), wrong = 1;
    memcpy(G, was, sizeof was);
}

int main(void) {
    static double g[N][M], a[N][M], d[N / 2][2][M], flat[N * M];
    for (int i = 0; i < N * M; i++) {
        g[i / M][i % M] = i * 1.5;
        a[i / M][i % M] = i * i % 17;
        d[i / 8][i / 4 % 2][i % 4] = i * 3 % 11;
        flat[i] = i * 7 % 23;
    }
#define TEST(name) name(M, g, a, d, flat);
#pragma acc data copyin(g, a, d, flat)
    {TEST(sums) TEST(differences) TEST(of_any_length) TEST(elements) TEST(deep) TEST(choices) TEST(moving)
         TEST(of_the_thread) TEST(casts)} inferred(M, g, a);
    return wrong;
}
