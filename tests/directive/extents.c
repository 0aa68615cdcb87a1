/* SPDX-License-Identifier: Apache-2.0 */
/* How far a pointer in no clause is copied, and sections without elements. */
#include <openacc.h>
#include <stdio.h>
#include <stdlib.h>

static int failures;
static void expect(int holds, const char* rule) {
    if (holds) return;
    failures++;
    fprintf(stderr, "extents: broken: %s\n", rule);
}

static int count_of(const int* a, int n, int value) {
    int count = 0;
    for (int i = 0; i < n; i++) count += a[i] == value;
    return count;
}

static void negative_factors(int n, int step) {
    int data[200] = {0}, *a = data + 100;
#pragma acc parallel loop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 5; j++) a[-2 * i + 20 * j] = 1;
    expect(a[-18] == 1 && a[80] == 1 && count_of(data, 200, 1) == 50, "a pointer is copied from where a loop begins");
#pragma acc parallel loop
    for (int i = 0; i < n; i++) a[i * step] = 2;
    expect(a[0] == 2 && a[-27] == 2 && count_of(data, 200, 2) == 10, "the program's factors may be negative");
#pragma acc parallel loop
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 3; j++) a[(i - 4) * (j + 10)] = 3;
    expect(a[-48] == 3 && a[-10] == 3 && count_of(data, 200, 3) == 12, "and so may whole ranges");
}

static void steps(int n, int step) {
    int data[60] = {0}, *left = data, *a = data + 20, *right = data + 40;
#pragma acc data copyin(left[0 : 20], right[0 : 20])
    {
#pragma acc parallel loop
        for (int i = 0; i < n; i += 4)
            for (int j = 0; j < 4; j++) a[i + j] = 1;
        expect(count_of(data, 60, 1) == 20, "a loop's steps end before its bound");
#pragma acc parallel loop
        for (int i = 0; i <= n - 1; i += step)
            for (int j = 0; j < step; j++) a[i + j] = 2;
        expect(count_of(data, 60, 2) == 20, "also steps of the program's");
#pragma acc parallel loop
        for (int i = n - 1; i >= 0; i -= step)
            for (int j = 0; j < step; j++) a[i - j] = 3;
        expect(count_of(data, 60, 3) == 20, "and steps down");
#pragma acc parallel loop
        for (int i = n - 1; i > -1; i += -2) a[i] = a[i - 1] = 4;
        expect(count_of(data, 60, 4) == 20, "or a negative step up");
    }
}

static void empty(int n) {
    int *a = malloc(4 * sizeof(int)), *b = malloc(4 * sizeof(int));
    int sum = 7;
#pragma acc parallel loop
    for (int i = 0; i < n; i++) a[i] = b[i + 1];
#pragma acc kernels
    for (int i = 0; i < n; i++) sum += a[i];
    expect(sum == 7 && !acc_is_present(a, 4), "a loop without iterations needs nothing");
    for (int i = 0; i < 4; i++) a[i] = i;
#pragma acc enter data copyin(a[0 : 4])
#pragma acc enter data create(b[0 : n], b[2 : n])
    for (int i = 0; i < 4; i++) a[i] = 9;
#pragma acc update self(a[0 : n], a[1 : n])
    expect(count_of(a, 4, 9) == 4, "no elements come back");
#pragma acc update device(a[0 : n])
#pragma acc exit data copyout(a[0 : n])
    expect(count_of(a, 4, 9) == 4 && acc_is_present(a, 16), "nor end what is present");
#pragma acc exit data delete (b[0 : n])
#pragma acc exit data copyout(a)
    expect(a[0] == 0 && a[3] == 3, "nor go to the device");
    free(a);
    free(b);
}

static int calls;
static int length(int n) {
    calls++;
    return n;
}
static void once(void) {
    int a[8] = {0};
#pragma acc enter data copyin(a[0 : length(8)])
#pragma acc update self(a[0 : length(4)])
#pragma acc exit data copyout(a[0 : length(8)])
    expect(calls == 3, "a section's length is evaluated once");
}

int main(void) {
    negative_factors(10, -3);
    steps(20, 5);
    empty(0);
    once();
    if (!failures) printf("extents: all rules hold\n");
    return failures != 0;
}
