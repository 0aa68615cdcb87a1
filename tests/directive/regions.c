/* SPDX-License-Identifier: Apache-2.0 */
/* What regions take along, and what happens to memory: each function is one rule, and says if it is broken. */
#include <openacc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;
static void expect(int holds, const char* rule) {
    if (holds) return;
    failures++;
    fprintf(stderr, "regions: broken: %s\n", rule);
}

static double table[4][5];
static int scale = 3;

static double scaled(double value, int by) { return by > 0 ? value * by : 0; }
static void fill(int* where, int n, int value) {
#pragma unroll 2
    for (int i = 0; i < n; i++) where[i] = value;
}

static void scalars(void) {
    int x = 1, y = 2, z[4] = {0, 0, 0, 0};
#pragma acc parallel copyout(z)
    {
        x = 5; /* a copy of its own */
        z[0] = x + y;
    }
    expect(x == 1 && z[0] == 7, "scalars of a parallel construct are firstprivate");
#pragma acc kernels
    {
        x = y + 4;
        z[1] = x;
    }
    expect(x == 6 && z[1] == 6, "scalars of a kernels construct are copied");
#pragma acc data copy(x)
    {
#pragma acc parallel
        x = 9;
        expect(x == 6, "a scalar in a data clause is the device's");
    }
    expect(x == 9, "and comes back at its end");
#pragma acc serial copy(y)
    y += scale;
    expect(y == 5, "a global scalar is firstprivate");
}

/// Adds 1 to all elements that the mask does not take out, in several ways to ask for a mask.
static int unmasked(int n, const int* mask, int* a) {
    int count = 0;
#pragma acc parallel loop reduction(+ : count)
    for (int i = 0; i < n; i++)
        if (!mask || mask[i]) {
            a[i]++;
            count++;
        }
#pragma acc parallel loop copyin(mask[0 : n])
    for (int i = 0; i < n; i++)
        if (mask == NULL || mask[i]) a[i]++;
#pragma acc parallel loop
    for (int i = 0; i < n; i++) a[i] += mask ? mask[i] : 1;
#pragma acc parallel loop
    for (int i = 0; i < n; i++)
        if (0 != mask) a[i] += 100;
#pragma acc parallel loop
    for (int i = 0; i < n; i++)
        if (mask && i < 0) a[i] += mask[i];
    return count;
}

static void null_pointers(void) {
    int a[8] = {0}, *none = NULL;
    const int mask[8] = {1, 0, 1};
    expect(unmasked(8, NULL, a) == 8 && a[0] == 3 && a[7] == 3, "a null pointer has no elements");
    expect(unmasked(8, mask, a) == 2 && a[0] == 106 && a[1] == 103 && a[2] == 106, "and others are not null");
#pragma acc data copy(none[2 : 8])
    {
#pragma acc parallel loop present(none[0 : 3])
        for (int i = 0; i < 8; i++)
            if (none) none[i] = a[i];
    }
#pragma acc enter data copyin(none[1 : 4])
#pragma acc update device(none[1 : 4])
#pragma acc update self(none[0 : 4])
#pragma acc exit data copyout(none[1 : 4])
}

/* Of a pointer of which two pieces are present, a region means the one that it uses. */
static void pieces(int* a) {
    for (int i = 0; i < 20; i++) a[i] = i;
#pragma acc enter data copyin(a[6 : 2], a[13 : 3])
#pragma acc parallel loop default(present)
    for (int i = 13; i < 16; i++) a[i] *= 2;
#pragma acc parallel loop default(present)
    for (int i = 6; i < 8; i++) a[i] += 50;
#pragma acc parallel loop default(present)
    for (int i = 9; i < 9; i++) a[i] = 7;
#pragma acc exit data copyout(a[6 : 2], a[13 : 3])
    expect(a[5] == 5 && a[6] == 56 && a[7] == 57 && a[13] == 26 && a[15] == 30, "default(present) finds pieces");
}

static void arrays(int n) {
    double vla[n][n + 1], sum = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= n; j++) vla[i][j] = i * 10 + j;
#pragma acc parallel loop collapse(2) reduction(+ : sum)
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= n; j++) {
            vla[i][j] = scaled(vla[i][j], 2);
            sum += vla[i][j];
        }
    double wanted = 0;
    int wrong = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= n; j++) {
            wanted += 2 * (i * 10 + j);
            wrong += vla[i][j] != 2 * (i * 10 + j);
        }
    expect(!wrong && sum == wanted, "arrays of variable length, collapsed loops and calls of functions");
    for (int i = 0; i < 20; i++) table[i / 5][i % 5] = i;
#pragma acc parallel loop gang
    for (int i = 3; i >= 0; i--) {
#pragma acc loop vector
        for (int j = 4; j > 0; j -= 2) table[i][j] += 100;
    }
    wrong = 0;
    for (int i = 0; i < 20; i++) wrong += table[i / 5][i % 5] != i + (i % 5 == 2 || i % 5 == 4 ? 100 : 0);
    expect(!wrong, "global arrays in two dimensions, and loops that count down");
}

static void sections(void) {
    enum { n = 64 };
    float* a = malloc(n * sizeof(float));
    for (int i = 0; i < n; i++) a[i] = i;
#pragma acc enter data copyin(a[16 : 32])
    expect(acc_is_present(a + 16, 128) && !acc_is_present(a, 4), "a section is present, and what is around it is not");
#pragma acc parallel loop present(a[16 : 32])
    for (int i = 16; i < 48; i++) a[i] += 1000;
#pragma acc update self(a[20 : 2])
    expect(a[20] == 1020 && a[21] == 1021 && a[22] == 22, "update moves its section alone");
#pragma acc enter data copyin(a[16 : 32])
#pragma acc exit data copyout(a[16 : 32])
    expect(a[30] == 30, "exit data with a count left moves nothing");
#pragma acc exit data copyout(a[24 : 8])
    expect(a[24] == 1024 && a[31] == 1031 && a[32] == 32 && !acc_is_present(a + 16, 4),
           "the last exit moves its section and unmaps all");
#pragma acc enter data create(a[0 : 8])
#pragma acc enter data create(a[0 : 8])
#pragma acc exit data delete (a[0 : 8])finalize
    expect(!acc_is_present(a, 4), "finalize takes all counts away");
#pragma acc update device(a[0 : 8]) if_present
#pragma acc exit data delete (a[0 : 8])
    free(a);
}

static void privates(int n) {
    int out[8], scratch[4], *own = malloc(sizeof(int) * n);
    for (int i = 0; i < n; i++) own[i] = -1;
#pragma acc parallel loop gang private(scratch) copyout(out)
    for (int i = 0; i < 8; i++) {
        fill(scratch, 4, i);
#pragma acc loop seq
        for (int j = 0; j < 2; j++) scratch[j] += j;
#pragma unroll
        for (int j = 2; j < 4; j++) scratch[j] += j;
        out[i] = scratch[3];
    }
    int wrong = 0;
    for (int i = 0; i < 8; i++) wrong += out[i] != i + 3;
    expect(!wrong, "private arrays");
#pragma acc parallel loop gang private(own[0 : n]) copyout(out)
    for (int i = 0; i < 8; i++) {
        for (int j = 0; j < n; j++) own[j] = i * j;
        out[i] = own[n - 1];
    }
    for (int i = 0; i < 8; i++) wrong += out[i] != i * (n - 1);
    expect(!wrong && own[1] == -1, "private sections with a length that is known at run time");
    free(own);
}

static void queues(void) {
    enum { n = 1000 };
    static int a[n], b[n];
#pragma acc enter data create(a, b)
#pragma acc parallel loop async(1) present(a)
    for (int i = 0; i < n; i++) a[i] = i;
#pragma acc parallel loop async(2) wait(1) present(a, b)
    for (int i = 0; i < n; i++) b[i] = 2 * a[i];
#pragma acc update self(b) async(2)
#pragma acc wait(2)
    expect(b[n - 1] == 2 * (n - 1) && acc_async_test(2) && acc_async_test(1), "async queues and wait");
#pragma acc wait(1) async(3)
#pragma acc exit data delete (a, b)async(3)
#pragma acc wait
}

/* Chains of every short distance, at a length with a remainder. */
static void chains(void) {
    enum { n = 221 };
    for (int apart = 1; apart <= 5; apart++) {
        unsigned there[n], here[n];
        for (int i = 0; i < n; i++) there[i] = here[i] = 3u * i + 1;
#pragma acc kernels copy(there)
        {
            if (apart == 1)
                for (int i = 1; i < n; i++) there[i] += there[i - 1];
            if (apart == 2)
                for (int i = 2; i < n; i++) there[i] += there[i - 2];
            if (apart == 3)
                for (int i = 3; i < n; i++) there[i] += there[i - 3];
            if (apart == 4)
                for (int i = 4; i < n; i++) there[i] += there[i - 4];
        }
#pragma acc parallel loop auto copy(there)
        for (int i = 3; i < n; i++) there[i] += there[i - 3];
        if (apart < 5)
            for (int i = apart; i < n; i++) here[i] += here[i - apart];
        for (int i = 3; i < n; i++) here[i] += here[i - 3];
        expect(!memcmp(there, here, sizeof here), "iterations that depend on each other run in order");
    }
}

static void dependent_loops(void) {
    enum { n = 50 };
    int a[n], b[n];
    for (int i = 0; i < n; i++) a[i] = b[i] = 1;
#pragma acc kernels
    {
        for (int i = 1; i < n; i++) a[i] = a[i - 1] + 1;
        for (int i = 0; i < n; i++) b[i] = 2 * a[i];
    }
    expect(a[n - 1] == n && b[n - 1] == 2 * n, "kernels keeps the order of dependent iterations and of its loops");
    int* alias = b;
#pragma acc data copy(b)
    {
#pragma acc kernels present(alias[0 : n])
        for (int i = 1; i < n; i++) b[i] = alias[i - 1] + 1;
    }
    expect(b[n - 1] == b[0] + n - 1, "two names of one array are no independent iterations");
}

static void host_version(void) {
    int a[3] = {1, 2, 3}, where = 1;
#pragma acc parallel if (0) copy(a)
    {
        a[0] = 10;
        where = acc_on_device(acc_device_host);
        a[1] = where;
    }
    expect(a[0] == 10 && a[1] == 1 && where == 1, "the host runs what `if` keeps from the device");
#pragma acc parallel copy(a)
    a[2] = acc_on_device(acc_device_not_host);
    expect(a[2] == 1, "acc_on_device() on the device");
    int there = 0;
#pragma acc serial self(there == 0) copy(a)
    a[0] = acc_on_device(acc_device_host) ? 20 : 0;
#pragma acc kernels self(there) copyout(there)
    there = acc_on_device(acc_device_not_host);
    expect(a[0] == 20 && there == 1, "the host runs what `self` keeps from the device");
}

/* Directives whose `if` is false do nothing. */
static void data_conditions(void) {
    int x = 1;
    for (int on = 0; on < 2; on++) {
#pragma acc data copy(x) if (on)
        expect(acc_is_present(&x, sizeof x) == on, "`if` of data");
#pragma acc enter data copyin(x) if (on)
        expect(acc_is_present(&x, sizeof x) == on, "`if` of enter data");
    }
    x = 2;
#pragma acc update device(x) if (x == 1)
#pragma acc update self(x)
    expect(x == 1, "an update to the device whose `if` is false");
    x = 3;
#pragma acc update self(x) if (x == 1)
    expect(x == 3, "an update to the host whose `if` is false");
#pragma acc update device(x) if (x == 3)
#pragma acc serial present(x)
    x++;
#pragma acc update host(x) if (x == 3)
    expect(x == 4, "updates whose `if` is true, and `host` for `self`");
#pragma acc exit data copyout(x) if (x != 4)
    expect(acc_is_present(&x, sizeof x), "`if` of exit data that is false");
#pragma acc exit data delete (x) if (x == 4)
    expect(!acc_is_present(&x, sizeof x), "`if` of exit data that is true");
}

/* The names of OpenACC 1 and 2 for the clauses that look whether data are present. */
static void older_names(void) {
    int a[6] = {1, 1, 1, 1, 1, 1}, b[6] = {2, 2, 2, 2, 2, 2}, c[6] = {3, 3, 3, 3, 3, 3}, d[6] = {4, 4, 4, 4, 4, 4};
    for (int again = 0; again < 2; again++) {
#pragma acc parallel loop pcopy(a) pcopyin(b) pcopyout(c) pcreate(d)
        for (int i = 0; i < 6; i++) {
            d[i] = b[i];
            c[i] = d[i] + a[i];
            a[i] += b[i]++;
        }
        for (int i = 0; i < 6; i++)
            expect(a[i] == 3 + 4 * again && b[i] == 2 && c[i] == 3 + 4 * again && d[i] == 4, "pcopy and its kind");
#pragma acc parallel loop present_or_copy(a) present_or_copyin(b) present_or_copyout(c) present_or_create(d)
        for (int i = 0; i < 6; i++) {
            d[i] = b[i];
            c[i] = d[i] + a[i];
            a[i] += b[i]++;
        }
        for (int i = 0; i < 6; i++)
            expect(a[i] == 5 + 4 * again && b[i] == 2 && c[i] == 5 + 4 * again && d[i] == 4,
                   "present_or_copy and its kind");
    }
    a[0] = 50;
#pragma acc data copy(a)
    {
        a[0] = 60; /* not the device's */
#pragma acc serial pcopy(a) present_or_copyin(b)
        a[0] += b[0];
        expect(a[0] == 60, "what is present is not copied");
    }
    expect(a[0] == 52, "and comes back at its end");
}

static void implied(int n) {
    int *a = malloc(n * sizeof(int)), *b = malloc((n + 3) * sizeof(int));
    for (int i = 0; i < n + 3; i++) b[i] = i;
#pragma acc parallel loop
    for (int i = 0; i < n; i++) a[i] = b[i + 3] + b[n - 1 - i];
    int wrong = 0;
    for (int i = 0; i < n; i++) wrong += a[i] != i + 3 + n - 1 - i;
    expect(!wrong && !acc_is_present(a, 4), "pointers without a clause are copied as far as loops use them");
    const int wide = n / 5;
#pragma acc kernels
    for (int j = 0; j < 5; j++)
        for (int i = 0; i < wide; i++) {
            const int at = i + j * wide, next = at + 3;
            a[at] = b[next];
        }
    for (int i = 0; i < n; i++) wrong += a[i] != i + 3;
    expect(!wrong, "also where a variable has the subscript");
    free(a);
    free(b);
}

static void atomics(void) {
    enum { n = 500 };
    static int slots[n], counts[7];
    int next = 0, highest = -1;
    double sum = 0;
#pragma acc parallel loop gang vector num_gangs(8) vector_length(16) copy(counts, next, sum, highest) copyout(slots)
    for (int i = 0; i < n; i++) {
        int mine;
#pragma acc atomic
        counts[i % 7]++;
#pragma acc atomic update
        sum = sum + i;
#pragma acc atomic capture
        {
            mine = next;
            next += 1;
        }
        slots[mine] = i + 1;
        if (i == n - 1) {
#pragma acc atomic write
            highest = i;
        }
    }
    int wrong = next != n || sum != n * (n - 1) / 2.0 || highest != n - 1 || counts[0] != (n + 6) / 7 ||
                counts[6] != n / 7,
        total = 0;
    for (int i = 0; i < n; i++) total += slots[i];
    expect(!wrong && total == n * (n + 1) / 2, "atomic updates, captures and writes");
}

static void tiles(int rows, int columns, int size) {
    static int seen[23][37];
    memset(seen, 0, sizeof seen);
    int sum = 0, wrong = 0;
#pragma acc parallel loop tile(size, 8) copy(seen) reduction(+ : sum)
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) {
            seen[i][j] += 1;
            sum += i * columns + j;
        }
#pragma acc parallel loop gang vector tile(*, *) copy(seen)
    for (int i = rows - 1; i >= 0; i--)
        for (int j = 0; j < columns; j++) seen[i][j] += 1;
    for (int i = 0; i < 23; i++)
        for (int j = 0; j < 37; j++) wrong += seen[i][j] != (i < rows && j < columns ? 2 : 0);
    expect(!wrong && sum == rows * columns * (rows * columns - 1) / 2, "tiles meet each iteration once");
}

/* Two pointers into one array: what the region writes through one it reads through the other. */
static void overlapping(void) {
    int a[64];
    int *p = a, *q = a;
    for (int i = 0; i < 64; i++) a[i] = 5;
#pragma acc data copy(a)
    {
#pragma acc parallel loop present(p[0 : 64], q[0 : 64])
        for (int i = 0; i < 64; i++) {
            const int before = q[i];
            p[i] = 1;
            p[i] = q[i] + before;
        }
    }
    int wrong = 0;
    for (int i = 0; i < 64; i++) wrong += a[i] != 6;
    expect(!wrong, "pointers into one array overlap");
}

static void add_one(int* v, int n) {
#pragma acc parallel loop present(v[0 : n])
    for (int i = 0; i < n; i++) v[i] += 1;
}

/* One launch site, with memory that changes between its launches. */
static void changing(void) {
    int a[8] = {0}, b[8] = {0}, wrong = 0;
#pragma acc data copy(a, b)
    for (int time = 0; time < 3; time++) add_one(a, 8), add_one(b + 2, 4);
    for (int time = 0; time < 3; time++) {
        /* The same address, and each time another buffer. */
#pragma acc data copy(a)
        add_one(a, 8);
        int* const there = acc_malloc(sizeof a);
        acc_memcpy_to_device(there, a, sizeof a);
#pragma acc parallel loop deviceptr(there)
        for (int i = 0; i < 8; i++) there[i] *= 2;
        acc_memcpy_from_device(b, there, sizeof b);
        acc_free(there);
        wrong += b[7] != 2 * a[7];
    }
    for (int i = 0; i < 8; i++) wrong += a[i] != 6;
    expect(!wrong, "a launch finds what is present now");
}

static void device_memory(void) {
    float host[16], *there = acc_malloc(sizeof host);
    for (int i = 0; i < 16; i++) host[i] = i;
    acc_memcpy_to_device(there, host, sizeof host);
#pragma acc parallel loop deviceptr(there)
    for (int i = 0; i < 16; i++) there[i] *= 2;
    acc_memcpy_from_device(host, there + 4, 4 * sizeof(float));
    expect(host[0] == 8 && host[3] == 14, "acc_malloc() and deviceptr");
    acc_free(there);
#pragma acc data copyin(host)
    {
        float* address = acc_deviceptr(host);
        expect(address && acc_hostptr(address + 2) == host + 2, "acc_deviceptr() and acc_hostptr()");
#pragma acc host_data use_device(host)
        expect(host == address, "use_device");
    }
}

/* Parameters that are declared as arrays have that size, unless something is mapped there. */
static void declared_parameters(int n, double whole[n], int rows[4][5], double shorter[100]) {
#pragma acc data copyin(rows) copy(whole) copyin(shorter)
    {
#pragma acc parallel loop present(whole, rows, shorter)
        for (int i = 0; i < n; i++) whole[i] += rows[i % 4][i % 5] + shorter[i % 7];
    }
    for (int i = 0; i < n; i++)
        expect(whole[i] == 2 * i + i % 4 * 5 + i % 5,
               "a parameter declared as an array has its size, unless more or less is mapped");
#pragma acc kernels
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 5; j++) rows[i][j] = -1;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 5; j++) expect(rows[i][j] == -1, "so has one that no clause names");
}

/* Nothing is mapped of a null parameter. */
static void may_be_null(int n, double a[n], double b[n]) {
#pragma acc data copy(a) copyin(b)
    {
#pragma acc parallel loop
        for (int i = 0; i < n; i++) a[i] = 1;
    }
    expect(a[n - 1] == 1, "an array parameter may be null");
}

static void parameters(void) {
    double whole[50], shorter[100];
    int rows[4][5];
    for (int i = 0; i < 50; i++) whole[i] = 2 * i;
    for (int i = 0; i < 20; i++) rows[i / 5][i % 5] = i;
    for (int i = 0; i < 7; i++) shorter[i] = 0;
#pragma acc data copyin(shorter[0 : 7])
    declared_parameters(50, whole, rows, shorter);
    may_be_null(50, whole, NULL);
}

/* A loop begins where its first value was when it began. */
static void beginning(int n) {
    int* a = calloc(n, sizeof *a);
    int wrong = 0;
#pragma acc kernels copy(a[0 : n])
    for (int i = a[0]; i < n; i++) a[i] = n / 2;
    for (int i = 0; i < n; i++) wrong += a[i] != n / 2;
    expect(wrong == 0, "a loop that writes what its first value is read from");
    free(a);
}

/* PoCL once doubled the rest of a kernel for each. */
static void many_sums(int n) {
    int a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0, i = 0;
#pragma acc parallel loop reduction(+ : a, b, c, d, e, f, g, h, i)
    for (int k = 0; k < n; k++) {
        a += k, b += 2 * k, c += 3 * k, d += 4 * k, e += 5 * k;
        f += 6 * k, g += 7 * k, h += 8 * k, i += 9 * k;
    }
    const int one = n * (n - 1) / 2;
    expect(a == one && b == 2 * one && c == 3 * one && d == 4 * one && e == 5 * one && f == 6 * one && g == 7 * one &&
               h == 8 * one && i == 9 * one,
           "nine sums in one loop");
}

/* What comes back in small pieces is there when the directive ends, more than a page of it, too. */
static void small_pieces(void) {
    enum { PIECES = 6, LENGTH = 127 };
    static double piece[PIECES][LENGTH];
    int wrong = 0, one = 0, other = 0;
#pragma acc enter data create(piece, one, other)
#pragma acc parallel loop present(piece)
    for (int i = 0; i < PIECES * LENGTH; i++) piece[i / LENGTH][i % LENGTH] = i;
#pragma acc update self(piece[0 : 1], piece[1 : 1], piece[2 : 1], piece[3 : 1], piece[4 : 1], piece[5 : 1])
    for (int i = 0; i < PIECES * LENGTH; i++) wrong += piece[i / LENGTH][i % LENGTH] != i;
    expect(!wrong, "an update of several pieces");
#pragma acc serial present(one)
    one = 7;
    /* An update is done in the order of its clauses: what comes back is sent on. */
#pragma acc update self(one) device(one)
    expect(one == 7, "an update of one variable in both directions");
#pragma acc serial present(one, other) async(1)
    other = one + 1;
#pragma acc update self(other) async(1)
#pragma acc wait(1)
    expect(other == 8, "an asynchronous update");
    other = 0;
#pragma acc serial present(other) async(1)
    other = 9;
#pragma acc update self(other) async(1)
#pragma acc update device(other) async(1)
#pragma acc serial present(one, other) async(1)
    one = other;
#pragma acc update self(one) async(1)
#pragma acc wait(1)
    expect(one == 9, "asynchronous updates in both directions");
#pragma acc exit data delete (piece, one, other)
}

int main(void) {
    small_pieces();
    many_sums(1000);
    scalars();
    null_pointers();
    int twenty[20];
    pieces(twenty);
    beginning(200);
    arrays(13);
    sections();
    privates(6);
    queues();
    chains();
    dependent_loops();
    host_version();
    data_conditions();
    older_names();
    implied(30);
    atomics();
    device_memory();
    tiles(23, 37, 5);
    tiles(7, 11, 16);
    overlapping();
    changing();
    parameters();
    if (!failures) printf("regions: all rules hold\n");
    return failures != 0;
}
