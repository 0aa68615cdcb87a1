/* SPDX-License-Identifier: Apache-2.0 */
/* What regions of routines.c call. */
#include "routines.h"

static double smaller(double a, double b) { return a < b ? a : b; }

double sum_of_row(const double* a, int row, int columns) {
    double sum = 0;
#pragma acc loop seq
    for (int j = 0; j < columns; j++) sum += a[row * columns + j];
    return sum;
}

static double first_of(double** rows, int row) { return *rows[row]; }

double take_from_row(double** rows, int row, int columns, double what) {
    double* const own = rows[row];
    const double first = first_of(rows, row);
    for (int j = 0; j < columns; j++) rows[row][j] -= what;
    return first + own[columns - 1];
}

void extremes(const double* of, int n, double* low, double* high) {
    *low = *high = of[0];
    for (int i = 1; i < n; i++) {
        *low = smaller(*low, of[i]);
        *high = -smaller(-*high, -of[i]);
    }
}

struct point moved(struct point from, double by) {
    from.x += by;
    return from;
}

void turn(struct point* it) {
    const double x = it->x;
    it->x = -it->y;
    it->y = x;
}

int sum_of_squares(int n) {
    int sum = 0;
    for (int i = 0; i <= n; i++) sum += squared(i);
    return sum;
}

void mark(int* marks, int i) { marks[i] = i + 1; }

void count(int* counter) {
#pragma acc atomic
    ++*counter;
}
