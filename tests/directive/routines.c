/* SPDX-License-Identifier: Apache-2.0 */
/* Regions call functions of another source, which call one of this source. */
#include "routines.h"

#include <stdio.h>

enum { rows = 40, columns = 30 };

#pragma acc routine seq
int squared(int x) { return x * x; }

static double at(int i, int j) { return 0.5 * i + 3 * j; }

int main(void) {
    static double a[rows * columns], sums[rows], least[rows], most[rows];
    static struct point points[rows];
    static int marks[rows], squares[rows], counted;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) a[i * columns + j] = at(i, j);
#pragma acc parallel loop copyin(a) copyout(sums, least, most, points, squares) copy(marks, counted)
    for (int i = 0; i < rows; i++) {
        double low, high; /* of the thread, where the row is the device's */
        extremes(&a[i * columns], columns, &low, &high);
        least[i] = low;
        most[i] = high;
        sums[i] = sum_of_row(a, i, columns);
        points[i] = moved((struct point){i, 1}, 2.5);
        turn(&points[i]);
        struct point own = {i, i};
        turn(&own);
        points[i].y += own.x;
        squares[i] = sum_of_squares(i);
        mark(marks, i);
        count(&counted);
    }
    double *apart[rows], taken[rows];
    for (int i = 0; i < rows; i++) apart[i] = &a[i * columns];
#pragma acc parallel loop copy(apart[0 : rows][0 : columns]) copyout(taken)
    for (int i = 0; i < rows; i++) taken[i] = take_from_row(apart, i, columns, at(i, 0));
    int wrong = counted != rows;
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++) wrong += a[i * columns + j] != 3 * j;
        wrong += taken[i] != at(i, 0) + 3 * (columns - 1);
        double sum = 0;
        for (int j = 0; j < columns; j++) sum += at(i, j);
        int sum_of = 0;
        for (int k = 0; k <= i; k++) sum_of += k * k;
        wrong += sums[i] != sum || least[i] != at(i, 0) || most[i] != at(i, columns - 1) || points[i].x != -1 ||
                 points[i].y != i + 2.5 - i || squares[i] != sum_of || marks[i] != i + 1;
    }
    if (wrong) fprintf(stderr, "%d values are wrong\n", wrong);
    return wrong != 0;
}
