/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of routines_elsewhere.c, for regions of any source. */
struct point {
    double x, y;
};

#pragma acc routine seq
double take_from_row(double** rows, int row, int columns, double what);
#pragma acc routine seq
double sum_of_row(const double* a, int row, int columns);
#pragma acc routine seq
void extremes(const double* of, int n, double* low, double* high);
#pragma acc routine seq
struct point moved(struct point from, double by);
#pragma acc routine seq
void turn(struct point* it);
#pragma acc routine seq
int sum_of_squares(int n);
#pragma acc routine vector
void mark(int* marks, int i);
void count(int* counter);
#pragma acc routine(count) seq
#pragma acc routine seq
int squared(int x);
