/* SPDX-License-Identifier: Apache-2.0 */
/* Copies that a region has of its own, and parts of arrays that move: each function is one rule, and says if it is
 * broken. The host version keeps them, too. */
#include <openacc.h>
#include <stdio.h>
#include <stdlib.h>

static int failures;
static void expect(int holds, const char* rule) {
    if (holds) return;
    failures++;
    fprintf(stderr, "copies: broken: %s\n", rule);
}

enum { n = 8 };

static int counts_up(const int* values, int count) {
    int same = 1;
    for (int i = 0; i < count; i++) same = same && values[i] == i + 1;
    return same;
}

/* A firstprivate copy is of the host's value, also where the device has another one. */
static void beside_present_ones(void) {
    int array[4] = {1, 2, 3, 4}, *elements = malloc(4 * sizeof(int)), out[n], more[n];
    for (int i = 0; i < 4; i++) elements[i] = i + 1;
#pragma acc enter data copyin(array, elements[0 : 4])
    array[0] = elements[0] = 9;
#pragma acc parallel loop firstprivate(array, elements[0 : 4]) copyout(out) async(1)
    for (int i = 0; i < n; i++) out[i] = array[0] + elements[0];
#pragma acc parallel loop firstprivate(array) copyout(more) async(1)
    for (int i = 0; i < n; i++) more[i] = array[0] + array[3];
    array[0] = array[3] = 70;
#pragma acc wait(1)
    int right = 1;
    for (int i = 0; i < n; i++) right = right && out[i] == 18 && more[i] == 13;
    expect(right, "firstprivate takes what the host has at the directive");
#pragma acc exit data delete (array, elements)
    free(elements);
}

static void fill(int count, int* values, int with) {
    for (int i = 0; i < count; i++) values[i] = with;
}

/* Parts of rows: what lies between them stays. */
static void of_rows(int none) {
    int table[4][6], cube[3][4][5];
    const int on_host = acc_get_device_type() == acc_device_host;
    fill(24, table[0], 1);
    fill(60, cube[0][0], 1);
#pragma acc enter data create(table, cube)
#pragma acc parallel present(table, cube)
    {
#pragma acc loop collapse(2)
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 6; j++) table[i][j] = 7;
#pragma acc loop collapse(3)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 4; j++)
                for (int k = 0; k < 5; k++) cube[i][j][k] = 7;
    }
    if (on_host) fill(24, table[0], 1), fill(60, cube[0][0], 1);
#pragma acc update self(table[0 : 4][0 : none], cube[0 : 3][none : 0][0 : 5])
    int wrong = 0;
    for (int i = 0; i < 24; i++) wrong += table[i / 6][i % 6] != 1;
    for (int i = 0; i < 60; i++) wrong += cube[i / 20][i / 5 % 4][i % 5] != 1;
    expect(!wrong, "sections with an empty dimension move nothing");
#pragma acc update self(table[1 : 2][2 : 3], cube[0 : 2][1 : 2][1 : 3])
    for (int i = 0; i < 24; i++) {
        const int inside = i / 6 >= 1 && i / 6 < 3 && i % 6 >= 2 && i % 6 < 5;
        wrong += table[i / 6][i % 6] != (inside && !on_host ? 7 : 1);
    }
    for (int i = 0; i < 60; i++) {
        const int inside = i / 20 < 2 && i / 5 % 4 >= 1 && i / 5 % 4 < 3 && i % 5 >= 1 && i % 5 < 4;
        wrong += cube[i / 20][i / 5 % 4][i % 5] != (inside && !on_host ? 7 : 1);
    }
    expect(!wrong, "update self moves the section's parts of rows alone");
    fill(24, table[0], 3);
#pragma acc update device(table[0 : 4][1 : 1])
    fill(24, table[0], 4);
#pragma acc update self(table)
    for (int i = 0; i < 24; i++) wrong += table[i / 6][i % 6] != (on_host ? 4 : i % 6 == 1 ? 3 : 7);
    expect(!wrong, "update device, too");
#pragma acc exit data delete (table, cube)
    fill(24, table[0], 5);
#pragma acc parallel loop copyout(table[0 : 4][1 : 2])
    for (int i = 0; i < 4; i++) table[i][1] = table[i][2] = 6;
    for (int i = 0; i < 24; i++) wrong += table[i / 6][i % 6] != (i % 6 == 1 || i % 6 == 2 ? 6 : 5);
    expect(!wrong, "copyout brings its part of the rows back");
}

/* What the program has in variables that regions have copies of. */
static void of_privates(int on_device) {
    int array[4] = {1, 2, 3, 4}, *elements = malloc(4 * sizeof(int)), out[n], count = 4;
    int of_length[count];
    for (int i = 0; i < 4; i++) elements[i] = of_length[i] = i + 1;
#pragma acc parallel loop private(array, elements[1 : count - 1], of_length) copyout(out) if (on_device)
    for (int i = 0; i < n; i++) {
        array[0] = elements[1] = of_length[3] = i;
        elements[3] = 2 * i;
        out[i] = array[0] + elements[1] + of_length[3] + elements[3];
    }
    int right = 1;
    for (int i = 0; i < n; i++) right = right && out[i] == 5 * i;
#pragma acc parallel num_gangs(1) private(elements[0 : 4], of_length) copyout(out) if (on_device)
    {
        elements[2] = of_length[1] = 77;
#pragma acc loop private(array[0 : 2])
        for (int i = 0; i < n; i++) {
            array[0] = i;
            array[1] = 2 * i;
            out[i] = array[0] + array[1];
        }
        out[0] = elements[2];
    }
    for (int i = 1; i < n; i++) right = right && out[i] == 3 * i;
#pragma acc parallel loop gang copyout(out) if (on_device)
    for (int i = 0; i < n; i++) {
#pragma acc loop seq private(elements[0 : 2])
        for (int j = 0; j < 2; j++) {
            elements[j] = i * j;
            out[i] = elements[j];
        }
    }
    for (int i = 0; i < n; i++) right = right && out[i] == i;
    expect(right, "private arrays and sections");
    expect(counts_up(array, 4) && counts_up(elements, 4) && counts_up(of_length, 4),
           "the program's variables keep what they had, beside private ones");
    free(elements);
}

static void of_first_privates(int on_device) {
    int array[4] = {1, 2, 3, 4}, *elements = malloc(4 * sizeof(int)), out[n], scalar = 3;
    for (int i = 0; i < 4; i++) elements[i] = i + 1;
#pragma acc parallel loop firstprivate(array, scalar, elements[1 : 3]) copyout(out) if (on_device)
    for (int i = 0; i < n; i++) {
        const int before = array[1] + elements[2] + scalar;
        array[0] = elements[3] = scalar = 8;
        out[i] = before - array[1] - elements[2] + array[0] * elements[3];
        scalar = 3;
    }
    int right = 1;
    for (int i = 0; i < n; i++) right = right && out[i] == 67;
    expect(right, "firstprivate arrays and sections begin with what the program has");
    expect(counts_up(array, 4) && counts_up(elements, 4) && scalar == 3,
           "the program's variables keep what they had, beside firstprivate ones");
    free(elements);
}

static void of_pointers(int on_device) {
    int values[n], out[n], *pointer = values;
    for (int i = 0; i < n; i++) values[i] = i + 1;
#pragma acc data copyin(values)
    {
#pragma acc parallel loop firstprivate(pointer) copyout(out) if (on_device)
        for (int i = 0; i < n; i++) out[i] = pointer[i];
    }
    expect(counts_up(out, n), "a firstprivate pointer leads to what is present");
#pragma acc serial copyin(values) copyout(out) if (on_device)
    for (int i = 0; i < n; i++) out[i] = *pointer++;
    expect(counts_up(out, n) && pointer == values, "a region that moves a pointer moves one of its own");
}

/* A data construct that does nothing, or is for another device, leaves it to the region to bring its data along. */
static void without_their_data(int maps) {
    int array[n], *elements = malloc(n * sizeof(int)), sum = 0, scalar = 0;
    for (int i = 0; i < n; i++) array[i] = elements[i] = 0;
#pragma acc data copy(array[2 : 6], elements[0 : n], sum, scalar) if (maps)
    {
#pragma acc parallel loop reduction(+ : sum)
        for (int i = 2; i < n; i++) {
            array[i] = i + 1;
            elements[i] += i + 1;
            sum += i;
        }
#pragma acc serial
        scalar = 5;
    }
    array[0] = elements[0] = 1;
    array[1] = elements[1] = 2;
    expect(counts_up(array, n) && counts_up(elements, n) && sum == 27 && scalar == 5,
           "a region brings along what the data construct around it does not");
    const int devices = acc_get_num_devices(acc_device_not_host);
    if (devices > 1) {
#pragma acc data copyin(array, elements[0 : n]) deviceid(devices - 1)
        {
#pragma acc parallel loop copyin(sum)
            for (int i = 0; i < n; i++) array[i] = elements[i] += sum;
        }
        expect(array[0] == 28 && elements[n - 1] == n + 27, "also what it maps on another device");
    }
    free(elements);
}

/* A scalar of `kernels` that is written by its address, and read by its name. */
static void scalars_by_address(void) {
    int scalar = 1, *const pointer = &scalar, out[n];
#pragma acc kernels copyout(out)
    {
        pointer[0] = 5;
        for (int i = 0; i < n; i++) out[i] = scalar + i - 4;
    }
    expect(counts_up(out, n) && scalar == 5, "a scalar that a pointer leads to is shared with it");
}

static int calls;
static int next(void) { return calls++; }

static void of_sections(void) {
    int rows[n][3] = {{0}};
    calls = 2;
#pragma acc parallel loop copy(rows[next() : 1][0 : 3])
    for (int i = 0; i < 3; i++) rows[2][i] = i + 1;
    expect(calls == 3 && counts_up(rows[2], 3), "a section's bounds are evaluated once");
#pragma acc enter data create(rows[next() : 2])
#pragma acc exit data delete (rows[3 : 2])
    expect(calls == 4, "also where data stay");
}

int main(void) {
    for (int on_device = 0; on_device < 2; on_device++) {
        of_privates(on_device);
        of_first_privates(on_device);
        of_pointers(on_device);
        without_their_data(on_device);
    }
    scalars_by_address();
    of_sections();
    beside_present_ones();
    of_rows(0);
    if (failures == 0) puts("copies: all rules hold");
    return failures != 0;
}
