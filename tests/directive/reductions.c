/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions: each operator, and each level, in several types, beside the host's loop. */
#include <stdio.h>

#define N 333
#define DIRECTIVE(text) _Pragma(#text)

static int failures;

#define DEFINE(type, name, operation, combine, first, clause, level)                                                   \
    static void name##_##type##_##level(const type* a) {                                                               \
        type found = first, wanted = first;                                                                            \
        DIRECTIVE(acc parallel loop clause reduction(operation : found) copyin(a [0:N]) vector_length(16)              \
                      num_workers(2) num_gangs(5))                                                                     \
        for (int i = 0; i < N; i++) found = combine(found, a[i]);                                                      \
        for (int i = 0; i < N; i++) wanted = combine(wanted, a[i]);                                                    \
        if (found != wanted) {                                                                                         \
            failures++;                                                                                                \
            fprintf(stderr, "reductions: %s of %s, %s: %g instead of %g\n", #name, #type, #level, (double)found,       \
                    (double)wanted);                                                                                   \
        }                                                                                                              \
    }

#define ADD(x, y) ((x) + (y))
#define MULTIPLY(x, y) ((x) * (y))
#define MAXIMUM(x, y) ((x) > (y) ? (x) : (y))
#define MINIMUM(x, y) ((x) < (y) ? (x) : (y))
#define AND(x, y) ((x) & (y))
#define OR(x, y) ((x) | (y))
#define XOR(x, y) ((x) ^ (y))
#define BOTH(x, y) ((x) && (y))
#define EITHER(x, y) ((x) || (y))

typedef unsigned char byte;
DEFINE(int, sum, +, ADD, 3, gang, g)
DEFINE(int, sum, +, ADD, 3, worker, w)
DEFINE(int, sum, +, ADD, 3, vector, v)
DEFINE(int, sum, +, ADD, 3, gang worker vector, gwv)
DEFINE(int, product, *, MULTIPLY, 2, gang vector, gv)
DEFINE(double, max, max, MAXIMUM, 4, gang worker vector, gwv)
DEFINE(double, min, min, MINIMUM, 4, worker, w)
DEFINE(byte, and, &, AND, 0x7f, gang vector, gv)
DEFINE(int, or, |, OR, 64, vector, v)
DEFINE(byte, xor, ^, XOR, 9, worker vector, wv)
DEFINE(int, both, &&, BOTH, 1, gang, g)
DEFINE(int, either, ||, EITHER, 0, gang vector, gv)

/* A sum of each row by workers, by vector lanes and by both, inside a gang's loop. */
static void rows(const int* a) {
    int sums[3][9], total = 5, wanted_total = 5;
#pragma acc parallel loop gang copyin(a[0 : N]) copyout(sums) reduction(+ : total) num_gangs(4) num_workers(3)         \
    vector_length(8)
    for (int row = 0; row < 9; row++) {
        int by_worker = 1, by_vector = 2, by_both = 3;
#pragma acc loop worker reduction(+ : by_worker)
        for (int i = 0; i < 37; i++) by_worker += a[row * 37 + i];
#pragma acc loop vector reduction(+ : by_vector)
        for (int i = 0; i < 37; i++) by_vector += a[row * 37 + i];
#pragma acc loop worker vector reduction(+ : by_both, total)
        for (int i = 0; i < 37; i++) {
            by_both += a[row * 37 + i];
            total += a[row * 37 + i];
        }
        sums[0][row] = by_worker;
        sums[1][row] = by_vector;
        sums[2][row] = by_both;
    }
    for (int row = 0; row < 9; row++) {
        int sum = 0;
        for (int i = 0; i < 37; i++) sum += a[row * 37 + i];
        wanted_total += sum;
        for (int by = 0; by < 3; by++)
            if (sums[by][row] != sum + by + 1) {
                failures++;
                fprintf(stderr, "reductions: row %d by %d: %d instead of %d\n", row, by, sums[by][row], sum + by + 1);
            }
    }
    if (total != wanted_total) failures++, fprintf(stderr, "reductions: total %d instead of %d\n", total, wanted_total);
}

/* Workers' loop with lanes' reductions inside: the lanes of one worker cannot wait for those of another. */
static void nested(const double* a) {
    double out[12], sum;
#pragma acc parallel copyin(a[0 : N]) copyout(out) num_gangs(2) num_workers(4) vector_length(8)
    {
#pragma acc loop gang worker private(sum)
        for (int row = 0; row < 12; row++) {
            sum = 0;
#pragma acc loop vector reduction(+ : sum)
            for (int i = 0; i < 25; i++) sum += a[row * 25 + i];
            out[row] = sum;
        }
    }
    for (int row = 0; row < 12; row++) {
        double wanted = 0;
        for (int i = 0; i < 25; i++) wanted += a[row * 25 + i];
        if (out[row] != wanted)
            failures++, fprintf(stderr, "reductions: nested row %d: %g instead of %g\n", row, out[row], wanted);
    }
}

/* A loop over gangs in a region whose own clauses do not name the sum, which the loop sets and does not only add to. */
static void in_region(const int* a) {
    int total = 7, wanted = 7;
#pragma acc parallel copyin(a[0 : N]) num_gangs(3) num_workers(2) vector_length(8)
    {
#pragma acc loop gang worker vector reduction(+ : total)
        for (int i = 0; i < N; i++) total = total + a[i];
    }
    for (int i = 0; i < N; i++) wanted += a[i];
    if (total != wanted) failures++, fprintf(stderr, "reductions: in a region: %d instead of %d\n", total, wanted);
}

/* An array's elements. */
static void array(const int* a) {
    int bins[4] = {1, 2, 3, 4}, wanted[4] = {1, 2, 3, 4};
#pragma acc parallel loop copyin(a[0 : N]) reduction(+ : bins)
    for (int i = 0; i < N; i++) bins[i % 4] += a[i];
    for (int i = 0; i < N; i++) wanted[i % 4] += a[i];
    for (int bin = 0; bin < 4; bin++)
        if (bins[bin] != wanted[bin])
            failures++, fprintf(stderr, "reductions: bin %d: %d instead of %d\n", bin, bins[bin], wanted[bin]);
}

/* What is reduced may stand in a data clause, too, on either side. */
static void in_data_clauses(const int* a) {
    int before = 3, behind = 4, inside = 5, bins[2] = {1, 2}, *more = &bins[1], wanted = 0;
    for (int i = 0; i < N; i++) wanted += a[i];
#pragma acc parallel loop reduction(+ : before) copy(before) copyin(a[0 : N])
    for (int i = 0; i < N; i++) before += a[i];
#pragma acc kernels loop copy(behind) reduction(+ : behind) copyin(a[0 : N])
    for (int i = 0; i < N; i++) behind += a[i];
#pragma acc data copy(inside)
    {
#pragma acc parallel reduction(+ : inside) present(inside) copyin(a[0 : N]) num_gangs(1)
        {
#pragma acc loop reduction(+ : inside)
            for (int i = 0; i < N; i++) inside += a[i];
        }
    }
#pragma acc parallel loop reduction(+ : bins) copy(bins) copyin(a[0 : N])
    for (int i = 0; i < N; i++) bins[0] += a[i];
#pragma acc parallel loop copy(more[0 : 1]) reduction(+ : more[0 : 1]) copyin(a[0 : N])
    for (int i = 0; i < N; i++) more[0] += a[i];
    if (before != wanted + 3 || behind != wanted + 4 || inside != wanted + 5 || bins[0] != wanted + 1 ||
        bins[1] != wanted + 2)
        failures++,
            fprintf(stderr, "reductions: in data clauses: %d %d %d %d %d\n", before, behind, inside, bins[0], bins[1]);
}

int main(void) {
    static int a_int[N];
    static double a_double[N];
    static byte a_byte[N];
    for (int i = 0; i < N; i++) {
        const int value = i % 83 == 0 ? 2 : 1; /* products stay exact */
        a_int[i] = a_byte[i] = value;
        a_double[i] = value;
    }
    product_int_gv(a_int);
    for (int i = 0; i < N; i++) {
        const int value = (i * 73) % 127 - (i % 2 ? 0 : 50);
        a_int[i] = value;
        a_double[i] = value;
        a_byte[i] = (i * 73) % 127;
    }
    sum_int_g(a_int), sum_int_w(a_int), sum_int_v(a_int), sum_int_gwv(a_int);
    max_double_gwv(a_double), min_double_w(a_double);
    and_byte_gv(a_byte), or_int_v(a_int), xor_byte_wv(a_byte), both_int_g(a_int), either_int_gv(a_int);
    rows(a_int);
    nested(a_double);
    in_region(a_int);
    array(a_int);
    in_data_clauses(a_int);
    if (!failures) printf("reductions: all are right\n");
    return failures != 0;
}
