// SPDX-License-Identifier: Apache-2.0
// What variables of loops are after their loops in kernels: as in C.
#include <stdio.h>
#include <string.h>

enum { N = 12, MANY = 5000 };
static int a[N], r[N], expected[N], many[MANY], wrong, position;

static void begin(void) {
    for (int i = 0; i < N; i++) a[i] = i * 5 % N, r[i] = expected[i] = -1;
}

static void check(const char* what) {
    for (int i = 0; i < N; i++)
        if (r[i] != expected[i]) {
            printf("wrong: %s: element %d is %d, not %d\n", what, i, r[i], expected[i]);
            wrong++;
            return;
        }
}

// Runs the statement in kernels and on the host, each with `r` for what it writes.
#define COMPARE(what, clauses, ...)                                                                                    \
    do {                                                                                                               \
        begin();                                                                                                       \
        DIRECTIVE(acc kernels clauses)                                                                                 \
        __VA_ARGS__                                                                                                    \
        memcpy(expected, r, sizeof r);                                                                                 \
        for (int i = 0; i < N; i++) a[i] = i * 5 % N, r[i] = -1;                                                       \
        int* const device = expected;                                                                                  \
        int host[N];                                                                                                   \
        memcpy(host, device, sizeof host);                                                                             \
        __VA_ARGS__                                                                                                    \
        memcpy(expected, r, sizeof r);                                                                                 \
        memcpy(r, host, sizeof r);                                                                                     \
        check(what);                                                                                                   \
    } while (0)
#define DIRECTIVE(...) _Pragma(#__VA_ARGS__)

/// The variable belongs to an iteration of a loop that is spread.
static void inside(int n) {
    COMPARE(
        "a search", loop independent, for (int i = 0; i < n; i++) {
            int k;
            for (k = 0; k < i; k++)
                if (a[k] > 7) break;
            r[i] = k;
        });
    COMPARE(
        "the normal end", , for (int i = 0; i < n; i++) {
            int k, sum = 0;
            for (k = 0; k < i; k++) sum += a[k];
            r[i] = sum + 100 * k;
        });
    COMPARE(
        "a second loop goes on", loop, for (int i = 0; i < n; i++) {
            int k = 5, sum = 0;
            for (k = 0; k < i; k++) sum += a[k];
            for (; k < n; k++) sum -= a[k];
            r[i] = sum;
        });
    COMPARE(
        "continue", loop, for (int i = 0; i < n; i++) {
            int k, sum = 0;
            for (k = n; k > i; k -= 3) {
                if (a[k % N] % 2) continue;
                sum += k;
            }
            r[i] = sum * 50 + k;
        });
    COMPARE(
        "loops in loops", loop, for (int i = 0; i < n; i++) {
            int j, k = -3, sum = 0;
            for (j = 2; j <= i; j += 2)
                for (k = j; k != n; k++) sum += a[k] * j;
            r[i] = sum + 10000 * j + 1000 * k;
        });
    int k;
    COMPARE(
        "private", loop private(k), for (int i = 0; i < n; i++) {
            for (k = 0; k < n; k++)
                if (a[k] == i) break;
            r[i] = k;
        });
    COMPARE(
        "sums of lanes", loop gang, for (int i = 0; i < n; i++) {
            int j, sum = 0;
            DIRECTIVE(acc loop vector reduction(+ : sum))
            for (int l = 0; l < n; l++) sum += a[l] * i;
            for (j = 0; j < n; j++) many[i * N + j] = j + sum;
            r[i] = many[i * N + i] + j;
        });
}

/// The variable is outside of the region.
static void outside(int n) {
    int j, k;
    COMPARE(
        "each iteration sets and reads it", , for (int i = 0; i < n; i++) {
            for (j = 0; j < n; j++)
                if (a[j] == i) break;
            r[i] = 2 * j + (j < n);
        });
    COMPARE("an iteration reads what the one before left", , {
        k = 4;
        for (int i = 0; i < n; i++) {
            r[i] = k;
            for (k = 0; k < i % 5; k++) a[k] += i;
        }
    });
    COMPARE("between statements", , {
        int sum = 0;
        for (k = 0; k < 5; k++) sum += a[k];
        for (; k < n; k++) sum -= a[k];
        r[0] = sum;
        r[1] = k;
    });
    COMPARE("between kernels", , {
        for (j = 0; j < n; j++) r[j] = a[j] + 1;
        r[0] = j;
        for (j = n - 1; j >= 4; j -= 2) r[j] = 2 * a[j];
        r[1] = j;
        for (j = 0; j < n; j++)
            if (a[j] == 3) break;
        r[2] = j;
    });
    COMPARE("after loops in loops", , {
        for (k = 0; k < 3; k++)
            for (j = k; j < n; j++) r[j] += a[j] * k;
        r[0] = j + 20 * k;
    });
    COMPARE("a loop that multiplies", , {
        for (k = 1; k < n; k *= 2)
            for (j = 0; j < n; j++) r[j] += a[j] + k;
        r[1] = k;
    });
    COMPARE("no iterations", , {
        for (k = 3; k < 2; k++) r[k] = 0;
        r[1] = k;
        for (j = n; j < 5; j++) r[j] = 0;
        r[2] = j;
    });
    COMPARE(
        "insertion", copy(a), for (k = 1; k < n; k++) {
            const int v = a[k];
            for (j = k - 1; j >= 0; j--) {
                if (a[j] <= v) break;
                a[j + 1] = a[j];
            }
            a[j + 1] = v;
            r[k] = v + j;
        });
}

/// C looks at the end and the step anew each time.
static void moving_ends(int n) {
    int k, end, step;
    COMPARE("a worklist", , {
        end = 1;
        for (k = 0; k < end; k++) {
            r[a[k]]++;
            if (end < n) a[end++] = (a[k] + k) % n;
        }
        r[0] = end;
    });
    COMPARE("an earlier end", , {
        end = n;
        for (k = 0; k < end; k++) {
            if (a[k] == 8) end = k + 1;
            r[k] = a[k];
        }
        r[n - 1] = k;
    });
    COMPARE("another step", , {
        step = 1;
        for (k = 0; k < n; k += step) {
            r[k] = k;
            if (a[k] > 7) step = 3;
        }
        r[1] = k + 100 * step;
    });
    COMPARE("an end in memory", , {
        int last = 3;
        a[0] = 1;
        for (int i = 0; i < a[0]; i++) {
            r[i] += last;
            last = i + last / 2;
            if (a[0] < n) a[0]++;
        }
    });
    COMPARE("an end through a pointer", , {
        int* const at = &a[2];
        *at = 1;
        for (int i = 0; i < a[2]; i++) {
            if (i == 7) break;
            r[i] = 5;
            ++*at;
        }
    });
}

/// What the host reads after the region.
static void after_region(int n) {
    int j = 77, k = 78, l = 79, m = 80, steps = 0;
    begin();
#pragma acc kernels
    for (j = 0; j < n; j++) r[j] = a[j];
#pragma acc kernels
    {
        for (k = 0; k < n; k++)
            if (a[k] == 8) break;
        for (int i = 0; i < n; i++)
            for (l = 0; l < i; l++) r[i] += a[l];
    }
    expected[0] = j, expected[1] = k, expected[2] = l;
    int first = 0;
    while (a[first] != 8) first++;
    if (j != n || k != first || l != n - 1) printf("wrong: after a region: %d, %d, %d\n", j, k, l), wrong++;
    for (m = 0; m < 3; m++) {
#pragma acc kernels
        for (j = steps; j < n + m; j++) many[j] = j;
        steps += j;
    }
    if (steps != 50) printf("wrong: steps of the host: %d\n", steps), wrong++;
#pragma acc kernels
    for (position = 0; position < n; position++) r[position] = a[position];
    if (position != n) printf("wrong: a variable of the file: %d\n", position), wrong++;
    int inside = 5;
#pragma acc data copy(inside)
    {
#pragma acc kernels
        for (inside = 0; inside < n; inside += 5) r[inside] = a[inside];
    }
    if (inside != 15) printf("wrong: in a data construct: %d\n", inside), wrong++;
}

/// With as many threads as the device likes, or as clauses say.
static void large(int n) {
    int i, j, k;
#pragma acc kernels
    {
        for (i = 0; i < n; i++) many[i] = i;
        for (j = 0; j < 20; j++)
            for (k = 1; k < n; k++) many[k] += j;
        many[0] = i + j + k;
    }
    if (many[0] != n + 20 + n || many[1] != 191) printf("wrong: large loops: %d, %d\n", many[0], many[1]), wrong++;
    int found[50];
#pragma acc kernels loop gang worker vector vector_length(8) num_workers(2) num_gangs(3) copyout(found)
    for (int g = 0; g < 50; g++) {
        int at;
        for (at = 0; at < n; at++)
            if (many[at] >= 300 + g * 10) break;
        found[g] = at;
    }
    for (int g = 0; g < 50; g++) {
        int at = 0;
        while (at < n && many[at] < 300 + g * 10) at++;
        if (found[g] != at) printf("wrong: a search by lanes: %d: %d, not %d\n", g, found[g], at), wrong++;
    }
}

static int pointed, beside;
static int* const at_pointed[2] = {&beside, &pointed};
/// Read where the region's function does not name it.
static void from_elsewhere(int n) {
#pragma acc kernels copy(r)
    for (pointed = 1; pointed < n; pointed += 4) r[pointed] = 2;
    if (*at_pointed[1] != 13) printf("wrong: through a pointer of the file: %d\n", *at_pointed[1]), wrong++;
}

int main(void) {
    from_elsewhere(N);
    inside(N);
    outside(N);
    moving_ends(N);
    after_region(N);
    large(MANY);
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
