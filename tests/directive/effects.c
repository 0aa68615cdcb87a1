/* SPDX-License-Identifier: Apache-2.0 */
/* What C evaluates once, or not at all: each function is one rule, and says if it is broken. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int failures;
static void expect(int holds, const char* rule) {
    if (holds) return;
    failures++;
    fprintf(stderr, "effects: broken: %s\n", rule);
}

enum { gangs = 32, rounds = 2000 };

static int next_of(int* at) { return (*at)++; }

/* Threads that meet at one sum have to try again. */
static void atomic_values(void) {
    int sum = 0, other = 0, counts[gangs], seen[gangs];
    double product = 0, weights[rounds];
    for (int i = 0; i < rounds; i++) weights[i] = i % 2 ? 0.5 : 1.5;
#pragma acc parallel loop gang num_gangs(gangs) copyin(weights) copy(sum, other, product) copyout(counts, seen)
    for (int g = 0; g < gangs; g++) {
        int k = 0, calls = 0, before = -1;
#pragma acc loop seq
        for (int r = 0; r < rounds; r++) {
#pragma acc atomic update
            product += weights[k++];
#pragma acc atomic
            sum = 1 + sum + (next_of(&calls), 1);
#pragma acc atomic capture
            {
                before = other;
                other = other - next_of(&calls) + next_of(&calls);
            }
        }
        counts[g] = k + calls;
        seen[g] = before >= 0 && before < gangs * rounds;
    }
    int wrong = 0;
    for (int g = 0; g < gangs; g++) wrong += counts[g] != 4 * rounds || !seen[g];
    expect(!wrong && product == gangs * rounds, "the value of an atomic update is computed once");
    expect(sum == 2 * gangs * rounds && other == gangs * rounds, "also its parts on both sides of the variable");
}

static double smoothed(double* state, double value) { return *state = 0.5 * *state + value; }
static void add_to(int* sum, int value) { *sum += value; }

/* Functions that set scalars of `kernels`, to which they get the addresses. */
static void scalars_by_address(int n) {
    double state = 1, wanted = 1, whole = 0;
    int sum = 5, total = 5, found[16], wrong = 0;
#pragma acc kernels copyout(found)
    for (int i = 0; i < n; i++) found[i] = (int)smoothed(&state, i);
    for (int i = 0; i < n; i++) wrong += found[i] != (int)smoothed(&wanted, i);
    expect(!wrong && state == wanted, "kernels share a scalar with a function that gets its address");
#pragma acc kernels
    for (int i = 0; i < n; i++) add_to(&sum, i);
    for (int i = 0; i < n; i++) add_to(&total, i);
    expect(sum == total, "also if nothing else uses it");
#pragma acc kernels copyout(found)
    for (int i = 0; i < n; i++) found[i] = (int)(4 * modf(i * 1.25, &whole));
    for (int i = 0; i < n; i++) wrong += found[i] != i % 4;
    expect(!wrong && whole == (int)((n - 1) * 1.25), "and with a function of math.h");
}

static int in_table(const int* table, int at) { return table[at] > 0; }

/* Where the chain is broken, what follows points nowhere. */
static void chains_that_end(int n) {
    int *next = malloc(n * sizeof(int)), *divisors = malloc(n * sizeof(int)), good[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    for (int i = 0; i < n; i++) next[i] = i < 5 ? i : i == 5 ? -1 : 1900000000;
    for (int i = 0; i < n; i++) divisors[i] = i < 5 ? 1 : 0;
    int all = 1, called = 1, named = 1, any = 0, whole = 1, counted = 1;
#pragma acc kernels copyin(next[0 : n]) copy(good)
    for (int i = 0; i < n; i++) {
        all = all && next[i] >= 0;
        all = all && good[next[i]] > 0;
    }
#pragma acc kernels copyin(next[0 : n]) copy(good)
    for (int i = 0; i < n; i++) {
        any = any || next[i] < 0;
        any = any || *(good + next[i]) < 1;
    }
#pragma acc kernels copyin(next[0 : n]) copy(good)
    for (int i = 0; i < n; i++) {
        called = called && next[i] >= 0;
        called = called && in_table(good, next[i]);
    }
#pragma acc kernels copyin(next[0 : n]) copy(good)
    for (int i = 0; i < n; i++) {
        const int at = next[i] + 1;
        named = named && at > 0;
        named = named && good[at - 1] > 0;
    }
#pragma acc kernels copyin(divisors[0 : n])
    for (int i = 0; i < n; i++) {
        whole = whole && divisors[i];
        whole = whole && 12 / divisors[i] > 3;
    }
#pragma acc kernels copyin(divisors[0 : n])
    for (int i = 0; i < n; i++) counted = counted && (divisors[i] || i > 4);
    expect(!all && any, "a chain of && or || ends where it is decided, and subscripts behind it are not used");
    expect(!called && !named, "nor by way of a function or a variable");
    expect(!whole && counted, "nor is anything divided");
    free(next);
    free(divisors);
}

struct holder {
    int *values, count;
};

/* What a null pointer does not have is left alone. */
static void null_structures(struct holder* none, int* x, int n) {
    for (int i = 0; i < n; i++) x[i] = i;
#pragma acc parallel loop copy(x[0 : n])
    for (int i = 0; i < n; i++) {
        x[i] += 1;
        if (n < 0) x[i] += none->values[i];
    }
#pragma acc parallel loop copy(x[0 : n]) if (none != NULL)
    for (int i = 0; i < n; i++) x[i] += none ? none->values[i] : 7;
#pragma acc data copyin(none->values[0 : none->count]) copy(x[0 : n]) if (none)
    {
#pragma acc parallel loop copyin(none->values[0 : none->count]) self(none == NULL) if (n > 0)
        for (int i = 0; i < (none ? none->count : n); i++) x[i] += none ? none->values[i] : 8;
    }
#pragma acc enter data copyin(none->values[0 : none->count]) if (none)
#pragma acc update self(none->values[1 : none->count - 1]) if (none)
#pragma acc exit data delete (none->values) if (none)
    int wrong = 0;
    for (int i = 0; i < n; i++) wrong += x[i] != i + 16;
    expect(!wrong, "members of a null pointer are not read where C would not");
}

struct owner {
    struct holder* of;
};

static void null_structures_inside(const struct owner* empty, const struct owner* none, int* x, int n) {
    for (int i = 0; i < n; i++) x[i] = i;
#pragma acc parallel loop copy(x[0 : n])
    for (int i = 0; i < n; i++) {
        x[i] += 1;
        if (n < 0) x[i] += empty->of->values[i] + none->of->values[i];
    }
    int wrong = 0;
    for (int i = 0; i < n; i++) wrong += x[i] != i + 1;
    expect(!wrong, "nor members behind several pointers, of which one is null");
}

static int bumped(int* at) { return ++*at; }

/* At gang level, whatever loops over workers and lanes stand beside it. */
static void once_in_a_gang(void) {
    enum { rows = 7, columns = 45 };
    int a[rows][columns], counts[rows], calls[rows], tests[rows], choices[rows], seen[rows], captured = 0, wrong = 0;
    for (int i = 0; i < rows; i++) counts[i] = calls[i] = tests[i] = choices[i] = i;
#pragma acc parallel loop gang num_workers(4) vector_length(8) copy(counts, calls, tests, choices, captured)           \
    copyout(a, seen)
    for (int i = 0; i < rows; i++) {
        int k = counts[i]++, last, steps = 0;
        last = bumped(&calls[i]);
#pragma acc loop worker vector
        for (int j = 0; j < columns; j++) a[i][j] = j + k;
        int before;
#pragma acc atomic capture
        before = captured++;
        k = counts[i] += 2;
        if (tests[i]++ == i) steps++;
        while (tests[i]++ < i + 5) steps++;
        switch (choices[i]++ - i) {
        case 0: steps += 10;
        }
        for (int left = choices[i]++ - i; left < 3 && choices[i]-- > i; left++) steps += 100;
        seen[i] = k + last + steps + 1000 * (before < rows);
    }
    for (int i = 0; i < rows; i++) {
        const int steps = 1 + 4 + 10 + 200;
        wrong += counts[i] != i + 3 || calls[i] != i + 1 || tests[i] != i + 6 || choices[i] != i;
        wrong += seen[i] != 2 * i + 4 + steps + 1000;
        for (int j = 0; j < columns; j++) wrong += a[i][j] != j + i;
    }
    expect(!wrong && captured == rows, "effects beside a loop over workers happen once in a gang");
#pragma acc parallel loop gang copy(calls) copyout(a)
    for (int i = 0; i < rows; i++) {
        int sum = i;
#pragma acc loop worker reduction(+ : sum)
        for (int j = 0; j < 20; j++) sum += j;
        int t = bumped(&calls[i]);
        a[i][0] = sum + t;
    }
    for (int i = 0; i < rows; i++) wrong += calls[i] != i + 2 || a[i][0] != i + 190 + i + 2;
    expect(!wrong, "also where lanes have no loop");
}

/* By two names for one array. */
/* A loop in order may have any end, also one that it changes. */
static void ends_of_loops_in_order(void) {
    int rows[8][16] = {{0}}, powers[8][16] = {{0}}, b[8] = {3, 1, 4, 1, 5, 9, 2, 6}, c[20] = {0}, n = 3, wrong = 0;
#pragma acc parallel loop gang copy(rows, powers)
    for (int i = 0; i < 8; i++) {
        int m = 10, x = i + 1;
#pragma acc loop seq
        for (int j = 0; j < m; j++) {
            rows[i][j] = 1;
            if (j == i) m = j + 3;
        }
#pragma acc loop seq
        for (int j = 0; j < 16 && x < 50; j++) {
            powers[i][j] = x;
            x *= 2;
        }
    }
    for (int i = 0; i < 8; i++)
        for (int j = 0, x = i + 1; j < 16; j++, x *= 2)
            wrong += rows[i][j] != (j < i + 3) || powers[i][j] != (x < 50 ? x : 0);
    expect(!wrong, "loop seq ends where C's loop does");
#pragma acc kernels copy(b)
    {
#pragma acc loop seq
        for (int j = 0; j < b[0]; j++) {
            b[j] += 1;
            if (b[0] > 5) b[0] = 2;
        }
    }
    expect(b[0] == 4 && b[1] == 2 && b[2] == 5 && b[3] == 2 && b[4] == 5, "also where the end is an element");
#pragma acc serial copy(c)
    {
#pragma acc loop
        for (int j = 0; j < n; j++) {
            c[j] = 1;
            if (j == 1) n = 6;
        }
    }
    for (int j = 0; j < 20; j++) wrong += c[j] != (j < 6);
    expect(!wrong, "and in serial constructs");
}

static void ends_that_move(void) {
    int d[20] = {8, 1, 2, 3, 4, 5, 6, 7, 8, 9}, e[20] = {1, 1, 1, 1, 1, 1, 1, 1}, f[20] = {0, 12, 2, 2};
    int *p = d, *q = d, wrong = 0;
#pragma acc kernels copy(d)
    for (int i = 0; i < p[0]; i++) q[i] = 4;
    for (int i = 0; i < 20; i++) wrong += d[i] != (i < 4 ? 4 : i < 10 ? i : 0);
    expect(!wrong, "an end is looked for before each iteration");
    p = q = e;
#pragma acc kernels copy(e)
    for (int i = 0; i < 8; i += p[0]) q[i] = 2;
    for (int i = 0; i < 20; i++) wrong += e[i] != (i < 8 ? i % 2 ? 1 : 2 : 0);
    expect(!wrong, "a step is looked for after each iteration");
    int n = 0;
    p = f, q = f + 1;
#pragma acc kernels copy(f, n)
    for (int i = 0; i < 10; i++)
        for (int j = p[1] / 6; j < p[1]; j++) {
            q[0] = p[2] + 2;
            n++;
        }
    expect(f[1] == 4 && n == 2 + 9 * 4, "also in a loop");
}

int main(void) {
    int x[8];
    struct owner none = {NULL};
    null_structures(NULL, x, 8);
    null_structures_inside(&none, NULL, x, 8);
    scalars_by_address(16);
    once_in_a_gang();
    ends_that_move();
    ends_of_loops_in_order();
    atomic_values();
    chains_that_end(1000);
    if (failures == 0) puts("effects: all rules hold");
    return failures != 0;
}
