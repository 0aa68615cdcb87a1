// SPDX-License-Identifier: Apache-2.0
// Sections that go on through arrays of pointers.
#include <openacc.h>
#include <stdio.h>
#include <stdlib.h>

static int wrong;

static void expect(const char* what, int good) {
    if (good) return;
    printf("%s is wrong\n", what);
    wrong = 1;
}

enum { N = 7, M = 50 };

static double** made(int first) {
    double** rows = malloc(N * sizeof *rows);
    for (int i = 0; i < N; i++) {
        rows[i] = malloc(M * sizeof **rows);
        for (int j = 0; j < M; j++) rows[i][j] = first + i * 100 + j;
    }
    return rows;
}

static void freed(double** rows) {
    for (int i = 0; i < N; i++) free(rows[i]);
    free(rows);
}

static int all_are(double** rows, double factor, double more) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            if (rows[i][j] != factor * (i * 100 + j) + more) return 0;
    return 1;
}

static void copied_and_computed(int n, int m) {
    double **a = made(0), **b = made(5), **c = made(9);
#pragma acc data copyin(a[0 : n][0 : m], b[0 : n][0 : m]) copyout(c[0 : n][0 : m])
    {
#pragma acc parallel loop gang
        for (int i = 0; i < n; i++) {
#pragma acc loop vector
            for (int j = 0; j < m; j++) c[i][j] = a[i][j] + b[i][j];
        }
    }
    expect("a sum of rows", all_are(c, 2, 5));
#pragma acc parallel loop collapse(2) copy(c[ : n][ : m])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) c[i][j] -= 5;
    expect("a change of rows", all_are(c, 2, 0));
#pragma acc kernels copy(c[0 : n][0 : m])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) c[i][j] *= 2;
    expect("kernels on rows", all_are(c, 4, 0));
#pragma acc parallel loop copy(c[0 : n][0 : m]) if (m < 0)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) c[i][j] /= 4;
    expect("the host version on rows", all_are(c, 1, 0));
    freed(a), freed(b), freed(c);
}

static void step(double** to, double** from, int n, int m) {
#pragma acc parallel loop present(to, from)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) to[i][j] = from[i][j] + 1;
}

static void present_by_pointer(int n, int m) {
    double **a = made(0), **b = made(0);
#pragma acc enter data copyin(a[0 : n][0 : m]) create(b[0 : n][0 : m])
    expect("a row that is present", acc_is_present(a[3], M * sizeof(double)));
    for (int times = 0; times < 3; times++) {
        step(b, a, n, m);
        double** old = a;
        a = b, b = old;
    }
#pragma acc update self(a[0 : n][0 : m])
    expect("rows after three steps", all_are(a, 1, 3));
#pragma acc exit data delete (b)copyout(a[0 : n][0 : m])
    expect("rows that are gone", !acc_is_present(a[3], M * sizeof(double)) && !acc_is_present(a, sizeof *a));
    freed(a), freed(b);
}

static void updated_in_parts(int n, int m) {
    double** a = made(0);
#pragma acc enter data create(a[0 : n][0 : m])
    for (int x = 0; x < n; x++) {
#pragma acc update device(a[x : 1][0 : m]) async(x)
#pragma acc parallel loop present(a[x : 1][0 : m]) async(x)
        for (int j = 0; j < m; j++) a[x][j] += x;
    }
#pragma acc wait
#pragma acc update self(a[2 : 2][10 : 5])
    int good = 1;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) good &= a[i][j] == i * 100 + j + (i >= 2 && i < 4 && j >= 10 && j < 15 ? i : 0);
    expect("parts of two rows", good);
#pragma acc update self(a)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) good &= a[i][j] == i * 101 + j;
    expect("all rows by their pointers", good);
#pragma acc exit data delete (a)
    freed(a);
}

static double sum_of(const double* row, int m) {
    double sum = 0;
#pragma acc parallel loop present(row[0 : m]) reduction(+ : sum)
    for (int j = 0; j < m; j++) sum += row[j];
    return sum;
}

static void rows_alone(int n, int m) {
    double **a = made(0), sums[N], most = 0;
#pragma acc data copyin(a[0 : n][0 : m])
    {
        expect("a row in a function", sum_of(a[2], m) == 200 * m + m * (m - 1) / 2);
#pragma acc parallel loop copyout(sums) reduction(max : most)
        for (int i = 0; i < n; i++) {
            const double* row = a[i];
            double sum = 0;
            for (int j = 0; j < m; j++) sum += row[j];
            sums[i] = sum + *a[i];
            most = sum > most ? sum : most;
        }
        for (int x = 0; x < n; x++) {
#pragma acc data copy(a[x : 1][0 : m])
#pragma acc parallel loop
            for (int j = 0; j < m; j++) a[x][j] = 0;
        }
    }
    int good = 1;
    for (int i = 0; i < n; i++) good &= sums[i] == i * 100 * m + m * (m - 1) / 2 + i * 100;
    expect("rows through pointers of a thread", good && most == 600 * m + m * (m - 1) / 2);
    expect("rows that an inner clause left alone", all_are(a, 1, 0));
    freed(a);
}

struct pair {
    int low;
    float high;
};

static void other_kinds(int m) {
    static int first[40], second[60];
    int* two[3] = {first, 0, second};
    struct pair some[2][9], *pairs[2] = {some[0], some[1]};
#pragma acc parallel copy(two[0 : 3][0 : 40]) copyout(pairs[ : ][0 : 9])
    {
#pragma acc loop
        for (int j = 0; j < 40; j++) two[0][j] = j, two[2][j] = -j;
#pragma acc loop
        for (int j = 0; j < 9; j++) pairs[0][j].low = j, pairs[0][j].high = j / 2.0f, pairs[1][j] = pairs[0][j];
    }
    int good = 1;
    for (int j = 0; j < 40; j++) good &= first[j] == j && second[j] == -j;
    for (int j = 0; j < 9; j++) good &= some[1][j].low == j && some[1][j].high == j / 2.0f;
    expect("an array of pointers", good);
    double** a = made(0);
#pragma acc parallel loop copy(a[2 : 3][1 : m])
    for (int i = 2; i < 5; i++)
        for (int j = 1; j <= m; j++) a[i][j] = -1;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++) good &= a[i][j] == (i >= 2 && i < 5 && j >= 1 && j <= m ? -1 : i * 100 + j);
    expect("a section in the middle", good);
    freed(a);
}

int main(void) {
    copied_and_computed(N, M);
    present_by_pointer(N, M);
    updated_in_parts(N, M);
    rows_alone(N, M);
    other_kinds(20);
    return wrong;
}
