// SPDX-License-Identifier: Apache-2.0
// Loops of all kinds of heads over gangs, workers and lanes, with as many threads as iterations and with fewer.
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { N = 1000, ROWS = 64, COLUMNS = 300, LONG = 3000000, MANY_ROWS = 70000, FEW_COLUMNS = 80 };
static int a[N], b[N], m[ROWS][COLUMNS], wrong;
static char large[LONG], tall[MANY_ROWS][FEW_COLUMNS];

static void check(const char* what) {
    if (memcmp(a, b, sizeof a) != 0) printf("wrong: %s\n", what), wrong++;
    memset(a, 0, sizeof a), memset(b, 0, sizeof b);
}

#define SAY(text) _Pragma(#text)
#define LOOP(levels, head, at)                                                                                         \
    {                                                                                                                  \
        SAY(acc parallel loop levels)                                                                                  \
        for (head) a[at] += 3;                                                                                         \
        for (head) b[at] += 3;                                                                                         \
        check(#levels ": " #head);                                                                                     \
    }
#define LEVELS(head, at)                                                                                               \
    LOOP(gang, head, at)                                                                                               \
    LOOP(gang worker, head, at)                                                                                        \
    LOOP(gang vector, head, at)                                                                                        \
    LOOP(gang worker vector, head, at)                                                                                 \
    LOOP(gang vector num_gangs(7) vector_length(30), head, at)                                                         \
    LOOP(gang vector num_gangs(50) vector_length(32), head, at)

static void heads(int n, int zero, int below, int step) {
    const unsigned u = n, most = UINT_MAX;
    const long l = n;
    const size_t z = n;
    const unsigned char c = 200;
    const short s = 100;
    LEVELS(int i = 0; i < n; i++, i)
    LEVELS(int i = 5; i <= n - 1; i += 3, i)
    LEVELS(int i = n - 1; i >= 0; i--, i)
    LEVELS(int i = n - 1; i > 0; i -= step, i)
    LEVELS(int i = n - 1; i > 0; i += -3, i)
    LEVELS(int i = 0; i != n; i++, i)
    LEVELS(int i = zero; i < zero; i++, i)
    LEVELS(int i = 0; i < below; i++, i)
    LEVELS(int i = below; i < n + below; i++, i - below)
    LEVELS(int i = INT_MAX - 10; i < INT_MAX; i++, i - (INT_MAX - 10))
    LEVELS(int i = INT_MIN; i <= INT_MIN + 20; i++, i - INT_MIN)
    LEVELS(unsigned i = 0; i < u; i++, i)
    LEVELS(unsigned i = u - 1; i > 0; i--, i)
    LEVELS(unsigned i = 3; i <= u - 2; i += 5, i)
    LEVELS(unsigned i = most - 3; i < most; i++, i - (most - 3))
    LEVELS(long i = 0; i < l; i += 2, i)
    LEVELS(size_t i = 1; i < z; i++, i)
    LEVELS(unsigned char i = 0; i < c; i++, i)
    LEVELS(short i = s; i > 0; i--, i)
}

#define IN_KERNELS(head, at)                                                                                           \
    {                                                                                                                  \
        SAY(acc kernels)                                                                                               \
        for (head) a[at] += 3;                                                                                         \
        for (head) b[at] += 3;                                                                                         \
        check("kernels: " #head);                                                                                      \
    }
#define BOTH(head, at) LOOP(gang vector, head, at) IN_KERNELS(head, at)

// C converts the first value to the variable's type, and both sides of the condition to one type.
static void conversions(int n, int zero, int back, int large, double half) {
    const unsigned u = n, most = UINT_MAX;
    const size_t z = n;
    BOTH(int i = -2; i < u; i++, i + 2)
    BOTH(int i = -2; i < most; i++, i + 2)
    BOTH(int i = n - 1; i > u - 5; i--, i)
    BOTH(unsigned i = zero - 1; i < u; i++, i)
    BOTH(unsigned char i = large; i < 200; i++, i)
    BOTH(signed char i = large; i < 100; i += 3, i)
    BOTH(long i = -3; i < z; i++, i + 3)
    BOTH(size_t i = n - 1; i >= 1; i -= 3, i)
    BOTH(size_t i = SIZE_MAX - 9; i < SIZE_MAX; i++, i - (SIZE_MAX - 9))
    BOTH(int i = half; i < n; i++, i)
    BOTH(int i = -half; i < n / 2; i++, i + 2)
    // Whose step goes down, or has a sign only here.
    BOTH(int i = n - 1; i != 0; i += -1, i)
    BOTH(int i = n - 1; i != -1; i += back, i)
    BOTH(int i = 0; i != n; i = i - back, i)
    BOTH(int i = n - 1; i > 0; i = back + i, i)
    BOTH(unsigned i = 0; i != u; i -= back, i)
    BOTH(long i = n - 1; i >= 0; i += back, i)
    // Which the end of the type ends.
    BOTH(unsigned i = u - 1; i != UINT_MAX; i--, i)
    BOTH(unsigned i = u - 1; i != ~0u; i += back, i)
    BOTH(unsigned i = zero - 1; i != UINT_MAX; i--, i)
    BOTH(size_t i = z - 1; i != SIZE_MAX; i--, i)
    BOTH(unsigned i = u - 1; i < u; i += back, i)
    BOTH(unsigned i = most - 9; i > 5; i -= back, i - (most - 9))
    // What no count tells before runs in order.
    int end = n;
    IN_KERNELS(unsigned i = u - 1; i < u; i -= 1, i)
    IN_KERNELS(unsigned i = u - 1; i < u; i--, i)
    IN_KERNELS(int i = 0; i < half; i++, i)
    IN_KERNELS(int i = 10; i > half; i--, i)
    IN_KERNELS(int i = 0; i < n * half; i += half, i / 3)
    IN_KERNELS(int i = (end = n, 0); i < end--; i++, i)
    IN_KERNELS(int i = (end = 2, 0); i < n; i += end++, i)
}

static void values(int n) {
    int p[4], sum = 5, most = 0, gangs = 5;
#pragma acc parallel loop gang vector private(p)
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < 4; j++) p[j] = i + j;
        if (i % 3 == 0) continue;
        a[i] = p[0] + p[3];
    }
    for (int i = 0; i < n; i++)
        if (i % 3 != 0) b[i] = 2 * i + 3;
    check("private");
#pragma acc parallel loop gang vector reduction(+ : sum) reduction(max : most)
    for (int i = 0; i < n; i++) {
        sum += i;
        most = most > i ? most : i;
    }
#pragma acc parallel loop gang reduction(+ : gangs) num_gangs(1200)
    for (int i = 0; i < n; i++) gangs += i;
    if (sum != 5 + n * (n - 1) / 2 || most != n - 1 || gangs != sum) printf("wrong: reductions\n"), wrong++;
}

static void rows(int way, int height, int width) {
    memset(m, 0, sizeof m);
    if (way == 0) {
#pragma acc parallel loop collapse(2) gang vector
        for (int i = 0; i < height; i++)
            for (int j = 0; j < width; j++) m[i][j] += i * N + j;
    } else if (way == 1) {
#pragma acc parallel loop gang
        for (int i = 0; i < height; i++) {
            const int k = i * N;
#pragma acc loop vector
            for (int j = width - 1; j >= 0; j--) {
                if (j % 2 == 0) {
                    m[i][j] = k + j;
                    continue;
                }
                m[i][j] += k + j;
            }
        }
    } else if (way == 2) {
#pragma acc parallel loop gang num_workers(2) vector_length(32)
        for (int i = 0; i < height; i++) {
#pragma acc loop worker vector
            for (int j = 0; j < width; j++) m[i][j] += i * N + j;
        }
    } else if (way == 3) {
#pragma acc parallel loop gang worker num_workers(4) vector_length(32)
        for (int i = 0; i < height; i++) {
#pragma acc loop vector
            for (int j = 0; j < width; j++) m[i][j] += i * N + j;
        }
    } else {
#pragma acc kernels
        for (int i = 0; i < height; i++)
            for (int j = 0; j < width; j++) m[i][j] += i * N + j;
    }
    for (int i = 0; i < height; i++)
        for (int j = 0; j < width; j++)
            if (m[i][j] != i * N + j) {
                printf("wrong: way %d, row %d, column %d\n", way, i, j), wrong++;
                return;
            }
}

static void launches(int n, int height, int width) {
#pragma acc parallel loop gang
    for (int i = 0; i < n; i++) large[i] += 1;
#pragma acc parallel loop gang vector_length(32)
    for (int i = 0; i < height; i++) {
#pragma acc loop vector
        for (int j = 0; j < width; j++) tall[i][j] += 1;
    }
    int missed = 0;
    for (int i = 0; i < n; i++) missed += large[i] != 1;
    for (int i = 0; i < height; i++)
        for (int j = 0; j < width; j++) missed += tall[i][j] != 1;
    if (missed) printf("wrong: large launches, %d iterations\n", missed), wrong++;
}

// A plain loop's variable has its last value after the loop, in kernels, too.
static void last_values(int n) {
    static int found[N], count[N], split[N];
    int k, last = 0, missed = 0;
#pragma acc kernels loop copyout(found)
    for (int i = 0; i < n; i++) {
        int j;
        for (j = 0; j < i; j++)
            if (j * j > i) break;
        found[i] = j;
    }
#pragma acc kernels loop private(k) copyout(count)
    for (int i = 0; i < n; i++) {
        int sum = 0;
        for (k = 0; k < i % 9; k++) sum += k;
        count[i] = sum + 100 * k;
    }
#pragma acc kernels copyout(split)
    {
        for (k = 0; k < n / 3; k++) split[k] = k;
        for (; k < n; k++) split[k] = -k;
        last = k;
    }
    for (int i = 0; i < n; i++) {
        int j = 0, sum = 0;
        while (j < i && j * j <= i) j++;
        for (int one = 0; one < i % 9; one++) sum += one;
        missed += found[i] != j || count[i] != sum + 100 * (i % 9) || split[i] != (i < n / 3 ? i : -i);
    }
    if (missed || last != n || k != n) printf("wrong: last values: %d, %d, %d\n", missed, last, k), wrong++;
}

int main(void) {
    last_values(N);
    heads(N, 0, -5, 7);
    conversions(N, 0, -1, 266, 2.5);
    values(N);
    for (int way = 0; way < 5; way++) rows(way, ROWS, COLUMNS);
    launches(LONG, MANY_ROWS, FEW_COLUMNS);
    return wrong != 0;
}
