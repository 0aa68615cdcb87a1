/* SPDX-License-Identifier: Apache-2.0 */
/* `declare`, for the whole program and for the rest of a function. */
#include <openacc.h>
#include <stdio.h>

static int failures;

static void expect(int holds, const char* rule) {
    if (holds) return;
    fprintf(stderr, "does not hold: %s\n", rule);
    ++failures;
}

enum { N = 40 };
static int table[N] = {3, 1, 4, 1, 5}, made[N], counter;
static double rate = 0.5;
static struct {
    int low, high;
} range = {2, 7};
static int grid[4][5], linked[N];
#pragma acc declare copyin(table, rate, range) create(made)
#pragma acc declare create(counter, grid) link(linked)
int resident[N];
#pragma acc declare device_resident(resident)

#pragma acc routine seq
static int looked_up(int i) { return table[i % 5] + range.high - range.low; }
#pragma acc routine seq
static void note(int i) {
    made[i] = looked_up(i) + counter;
    grid[i % 4][i % 5] = i;
}

static void globals(void) {
    table[0] = 100, rate = 7, range.high = 50; /* of the host */
    int out[N];
    double scaled[N];
#pragma acc parallel loop copyout(out, scaled)
    for (int i = 0; i < N; i++) out[i] = looked_up(i), scaled[i] = rate * i;
    expect(out[0] == 8 && out[1] == 6 && out[9] == 10 && scaled[3] == 1.5, "a device has the first values of copyin");
#pragma acc update device(table, rate, range)
#pragma acc parallel loop copyout(out, scaled)
    for (int i = 0; i < N; i++) out[i] = looked_up(i), scaled[i] = rate * i;
    expect(out[0] == 148 && out[1] == 49 && scaled[3] == 21, "update device of declared variables");
#pragma acc serial
    counter = 1000;
#pragma acc parallel loop
    for (int i = 0; i < N; i++) note(i);
    expect(made[5] == 0 && counter == 0, "nothing comes back by itself");
#pragma acc update self(made, counter, grid)
    expect(made[5] == 1148 && made[6] == 1049 && counter == 1000, "functions use declared variables");
    expect(grid[3][2] == 27 && grid[0][0] == 20, "rows of a declared array");
    expect(acc_is_present(made, sizeof made), "declared variables are present");
#pragma acc exit data delete (made)finalize
    expect(acc_is_present(made, sizeof made), "declared variables stay");
}

static void residents(void) {
    int out[N];
#pragma acc parallel loop
    for (int i = 0; i < N; i++) resident[i] = i * i;
#pragma acc parallel loop copyout(out)
    for (int i = 0; i < N; i++) out[i] = resident[i] + 1;
    expect(out[6] == 37, "device_resident");
    expect(!acc_is_present(linked, sizeof linked), "link maps nothing");
#pragma acc data copyout(linked)
#pragma acc parallel loop
    for (int i = 0; i < N; i++) linked[i] = i;
    expect(linked[9] == 9, "link finds what a data construct maps");
}

static void each_device(void) {
    const int devices = acc_get_num_devices(acc_device_not_host);
    for (int d = 0; d < devices; d++) {
#pragma acc parallel loop deviceid(d)
        for (int i = 0; i < N; i++) made[i] = d;
    }
    for (int d = 0; d < devices; d++) {
#pragma acc update self(made) deviceid(d)
#pragma acc wait device(d)
        expect(made[N - 1] == d, "each device has its own");
    }
}

static int summed(int n, const int* from, int* to) {
    int extra[3] = {1, 2, 3}, sum = 0;
#pragma acc declare copyin(from[0 : n], extra) copyout(to[0 : n]) copy(sum)
    if (n == 0) return -1;
#pragma acc parallel loop reduction(+ : sum)
    for (int i = 0; i < n; i++) {
        to[i] = from[i] + extra[i % 3];
        sum += to[i];
    }
    expect(acc_is_present(to, n * sizeof *to), "declare in a function maps");
#pragma acc update self(sum)
    return sum;
}

static int in_block(int n) {
    int a[8];
    for (int round = 0; round < 3; round++) {
        int b[8];
#pragma acc declare create(b) copyout(a)
#pragma acc parallel loop
        for (int i = 0; i < 8; i++) b[i] = n + round;
#pragma acc parallel loop
        for (int i = 0; i < 8; i++) a[i] = b[i] * 2;
        if (round == 1) break;
    }
    return a[7];
}

int main(void) {
    globals();
    residents();
    each_device();
    int from[9], to[9] = {0};
    for (int i = 0; i < 9; i++) from[i] = i;
    expect(summed(9, from, to) == 54 && to[8] == 11, "declare in a function moves data as its clauses say");
    expect(!acc_is_present(to, sizeof to), "and unmaps at the end");
    expect(summed(0, from, to) == -1, "also where the function returns earlier");
    expect(in_block(5) == 12, "declare in a block that is left early");
    if (!failures) printf("declared: all rules hold\n");
    return failures != 0;
}
