// SPDX-License-Identifier: Apache-2.0
// Which elements regions use of pointers in no clause. What lies before and behind each array is mapped apart, so that
// a range that is too large ends the program, and one that is too small gives other results than on the host.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { n = 60, margin = 8 };
#define LEAST(x, y) ((x) < (y) ? (x) : (y))

struct point {
    int x, y[2];
};

static void one_variable(int* a, int* b, int here) {
    int i, j, m = 6, t;
#pragma acc kernels if (here)
    {
        for (i = 0; i < n / m; i++) b[i] = i;
        for (i = 0; i < n / m; i++)
            for (j = 0; j < m; j++) a[i * m + j] += b[j];
        for (j = 0; j < m; j++) {
            t = 0;
            for (i = 0; i < n / m; i++) t += a[i * m + j];
            b[j + n - m] = t;
        }
    }
}

static void halves(int* a, int* b, int here) {
#pragma acc parallel loop if (here)
    for (int i = 0; i < n / 2; i++) b[2 * i + 1] = a[2 * i];
    int all = n;
#pragma acc parallel loop if (here)
    for (int i = all; i > all / 2; i--) b[i - 1] = a[all - i];
#pragma acc parallel loop if (here)
    for (int i = 0; i < all; i++) b[i] += a[i / 2] + a[(i - all + 1) / -3];
}

static void clamps(int* a, int* b, int here) {
    int all = n;
#pragma acc parallel loop if (here)
    for (int i = 0; i < all; i++) {
        int l = i - 1, r = i + 1;
        if (l < 0) l = 0;
        if (r >= all) {
            r = all - 1;
        }
        b[i] = a[l] + a[r];
    }
#pragma acc parallel loop if (here)
    for (int i = 0; i < all; i++) {
        const int l = i > 0 ? i - 1 : 0, r = LEAST(i + 3, all - 1);
        b[i] -= a[l] * a[r] + a[!(i < all - 2 && all > 3) ? 5 : i + 2];
    }
}

static void around(int* a, int* b, int here) {
    int all = n;
#pragma acc parallel loop if (here)
    for (int i = 0; i < all; i++) b[i] = a[(i + 1) % all] - a[(i - 1 + all) % all] + a[i % 7];
#pragma acc parallel loop if (here)
    for (int i = 0; i < all; i++) b[i] += a[all - 1 - i - i % -4 + i % 4 > 9 ? 2 : 1] + a[all - 4 + i % -4];
}

/// Unsigned differences and products, which wrap around.
static void unsigned_numbers(int* a, int* b, int here) {
    unsigned all = n, few = 16;
    size_t many = n;
#pragma acc parallel loop if (here)
    for (unsigned i = 0; i < few; i++) b[i] = a[(i - 1) % few];
#pragma acc parallel loop if (here)
    for (int i = 0; i < n; i++) b[i] -= a[(unsigned)(i - 5) % 8];
#pragma acc parallel loop if (here)
    for (int i = 0; i < n; i++) {
        const int before = i - 3;
        const unsigned at = before;
        b[i] += a[at % 8u] * a[(i - 5u) % many];
    }
#pragma acc parallel loop if (here)
    for (unsigned i = 0; i < all; i++) b[i] -= a[i * 2654435761u / 134217728u];
#pragma acc parallel loop if (here)
    for (unsigned i = 0; i < all; i++) b[i] += a[(all - 1 - i) / 2] + a[(i + 1) % few] + a[(many - i - 1) / 7 % many];
}

static void guards(int* a, int* b, int here) {
    int all = n, m = 6;
#pragma acc parallel loop if (here)
    for (int i = 0; i < all; i++) {
        if (i + 1 < all) b[i] = a[i + 1];
        if (i > 1 && all - 2 > i && a[i + 2]) b[i] += a[i - 2];
        if (i < 3 || a[i - 3] > 2)
            b[i]++;
        else
            b[i - 3 + 3] += a[i - 3];
        if (i == all - 1) b[i] = a[i - (all - 1)];
    }
#pragma acc parallel loop if (here)
    for (int i = 0; i < all; i++) {
        if (i) b[i - 1] -= a[i];
        if (i == 0) continue;
        b[i - 1]++;
        if (i != all - 1) b[i - 1] += a[i + 1];
    }
#pragma acc parallel loop collapse(2) if (here)
    for (int i = 0; i < n / m; i++)
        for (int j = 0; j < m; j++) {
            if (i == 0) continue;
            if (i <= 0) continue;
            if (j == m || j >= m - 1) continue;
            b[i * m + j] += a[(i - 1) * m + j] + a[i * m + j + 1];
        }
}

static void unsigned_guards(int* a, int* b, int here) {
    size_t all = n;
    unsigned few = 0;
#pragma acc parallel loop if (here)
    for (size_t i = 0; i < all; i++) {
        if (i < all - 1) b[i] = a[i + 1];
        if (i > 0) b[i] += a[i - 1];
    }
    // There, `few - 1` is no number below 0.
#pragma acc parallel loop if (here)
    for (unsigned i = 0; i < n; i++)
        if (i < few - 1) b[i] += a[i];
}

static void kept(int* a, int* b, int here) {
    int all = n, k, first;
#pragma acc parallel loop private(k, first) if (here)
    for (int i = 2; i < all; i++) {
        k = i - 2;
        first = k;
        for (int j = first; j < k + 1; j++) b[j] = a[j + 2];
    }
#pragma acc parallel loop if (here)
    for (int i = 2; i < all; i++) switch (i % 3) {
        case 2:
            if (i < 5) break;
            // fall through
        case 1: b[i - 2]++;
        }
}

static void steps(int* a, int* b, int here) {
    int all = n, by = 3;
#pragma acc parallel loop if (here)
    for (int i = 0; i < all; i += 3) b[i] = a[i + 1], b[i + 1] = a[i + 2], b[i + 2] = a[i];
#pragma acc parallel loop if (here)
    for (int i = all - 1; i >= 0; i -= by) b[i] += a[i - 2];
#pragma acc parallel loop if (here)
    for (int i = 0; i != all; i++) b[i] ^= a[(size_t)all - 1 - i];
}

static void signs(int* a, int* b, int here) {
    int all = n;
#pragma acc parallel loop if (here)
    for (int i = -3; i < all - 3; i++) b[i + 3] = a[i < 0 ? -i : i];
}

static void structures(int* a, int* b, int here) {
    struct point *p = (struct point*)a, *q = (struct point*)b;
    int(*rows)[5] = (int(*)[5])a;
#pragma acc parallel loop if (here)
    for (int i = 0; i < n / 3; i++) q[i].x = p[i].y[1], q[i].y[0] = p->x + p[n / 3 - 1 - i].y[i % 2];
#pragma acc parallel loop if (here)
    for (int i = 0; i < n / 5; i++)
        for (int j = 0; j < 5; j++) rows[i][j] += *b + i;
#pragma acc parallel loop if (here)
    for (int j = 0; j < 5; j++) (*rows)[j] += j;
}

/// Subscripts that go on in the next rows.
static void rows_as_one(int* a, int* b, int here) {
    int m = 6, few = 2;
    int(*rows)[5] = (int(*)[5])a, (*blocks)[few][m] = (int(*)[few][m])b, (*lines)[m] = (int(*)[m])b;
#pragma acc parallel loop if (here)
    for (int k = 0; k < n; k++) rows[0][k] = 3 * k;
#pragma acc parallel loop if (here)
    for (int k = 0; k < n; k++) (*lines)[k] = k;
#pragma acc parallel loop if (here)
    for (int k = 7; k < n; k++) (*rows)[k] += lines[1][k - 7] + lines[9][-k + 5] + lines[2][k % 6];
#pragma acc parallel loop if (here)
    for (int j = 0; j < n / m; j++)
        for (int k = 0; k < m; k++) blocks[0][j][k] += rows[0][j];
    // What lies in one row is that row's.
#pragma acc parallel loop if (here)
    for (int k = 0; k < 5; k++) rows[n / 5 - 1][k] += lines[0][k] + lines[n / 6 - 1][k + 1];
}

static void other_names(int* a, int* b, int here) {
    int all = n, m = 6;
#pragma acc parallel loop if (here)
    for (int i = 0; i < all / m; i++) {
        const int *row = a + i * m, *next = row + 1, *last = &row[m - 1];
        int* to = &b[i * m];
        for (int j = 0; j < m; j++) to[j] = row[j];
        for (int j = 0; j < m - 1; j++) to[j] += next[j] + *last + last[-j];
    }
#pragma acc parallel loop if (here)
    for (int i = 1; i < all; i++) {
        const int* q = &a[i - 2];
        b[i] -= q[1] + q[2];
    }
}

/// Conditions on what a variable was made of.
static void values_of_others(int* a, int* b, int here) {
    int m = 6;
#pragma acc parallel loop collapse(2) if (here)
    for (int i = 0; i < n / m; i++)
        for (int j = 0; j < m; j++) {
            const int at = i * m + j;
            if (i > 0 && i < n / m - 1 && j > 0) b[at] = a[at - m] + a[at + m] - a[at - 1];
        }
}

/// Conditions on the subscript as it is written.
static void written_guards(int* a, int* b, int here) {
    int all = n;
#pragma acc parallel loop if (here)
    for (int i = 0; i < all; i++)
        for (int k = -1; k <= 1; k++) {
            if (i + k >= 0 && i + k < all) b[i] += a[i + k];
            b[i] -= i - k * 2 < 0 ? 0 : i - k * 2 >= all ? 1 : a[i - k * 2];
        }
}

/// An unsigned comparison with one limit has two.
static void unsigned_guards_alone(int* a, int* b, int here) {
    unsigned all = n, m = 6;
    size_t many = n;
#pragma acc parallel loop if (here)
    for (unsigned i = 0; i < all; i++) {
        const unsigned before = i - 1;
        if (before < all) b[i] += a[before];
        if (i - m < all - m) b[i] += a[i - m] * 3;
    }
#pragma acc parallel loop if (here)
    for (int i = -4; i < n + 4; i++)
        if ((size_t)i < many && i < many) b[i] -= a[i];
}

static void squares(int* a, int* b, int here) {
#pragma acc parallel loop if (here)
    for (int i = 0; i < 15; i++) b[i] += a[(i - 7) * (i - 7)] - a[(i + 3) * (i + 3) % n];
}

/// A loop without iterations beside others.
static void nothing_far_away(int* a, int* b, int here) {
    int all = n, none = a[0] - a[0];
    long far = 1l << 34;
#pragma acc parallel loop if (here)
    for (int i = 0; i < all; i++) {
        b[i] += a[i];
        for (int j = 0; j < none; j++) b[j + far] = a[j - far];
    }
}

/// Loops that begin or end at variables of loops around them.
static void tied_loops(int* a, int* b, int here) {
    int all = n;
#pragma acc parallel loop if (here)
    for (int i = 0; i < all; i++) {
        int sum = 0;
        for (int k = 0; k <= i; k++) sum += a[k] * a[i - k];
        for (int j = 0; j < all - i; j++) sum -= a[i + j];
        for (int j = i; j < all; j += 2) sum ^= a[(j - i) * 1];
        b[i] = sum;
    }
#pragma acc parallel loop if (here)
    for (int i = all - 1; i >= 6; i -= 6)
        for (int j = i; j > i - 6; j--) b[j] += a[2 * i - 2 * j] - a[all - 1 - (i - j) / 2];
}

/// Values that become others in a narrower or unsigned type, or wrap around before they are widened.
static void conversions(int* a, int* b, int here) {
    unsigned few = 8, back = -1, from = 5;
    long big = 4294967296l + 7, zero = 0;
#pragma acc parallel loop if (here)
    for (int i = 0; i < n; i++) {
        const int v = (long)i * 1000000007l;
        b[v / 134217728 + 16] = 1;
    }
#pragma acc parallel loop if (here)
    for (unsigned i = 1; i < few; i++) a[i + back] = i;
#pragma acc parallel loop if (here)
    for (int i = 1; i < few; i++) {
        const int less = ~0u, more = big;
        a[i + less] += a[i + more] + a[i + (int)big];
    }
#pragma acc parallel loop if (here)
    for (unsigned i = 0; i < 10; i++)
        if (i - from > zero) b[i] += 1;
#pragma acc parallel loop if (here)
    for (unsigned i = 0; i < 10; i++) {
        if (i - from <= zero) continue;
        b[i] += 2;
    }
#pragma acc parallel loop if (here)
    for (int i = 0; i < n + 3; i++)
        if ((unsigned)(i - 2) < (unsigned)n) b[i - 2] -= 3;
#pragma acc parallel loop if (here)
    for (int i = -3; i < n + 3; i++)
        if ((size_t)i < (size_t)n) a[i] += 3;
}

/// First values and ends that C converts.
static void converted_loops(int* a, int* b, int here) {
    unsigned all = n, few = 8;
    int zero = 0, large = 266;
    size_t many = n;
#pragma acc parallel loop if (here)
    for (int i = -2; i < few; i++) a[i + 1] = 1;
#pragma acc parallel loop if (here)
    for (unsigned i = zero - 1; i < few; i++) a[i + 1] = 2;
#pragma acc parallel loop if (here)
    for (unsigned char i = large; i < n; i++) a[i] += 3;
#pragma acc parallel loop if (here)
    for (long i = -3; i < many; i++) b[i] = 1;
#pragma acc parallel loop if (here)
    for (unsigned i = all - 1; i != -1; i--) b[i] += 2;
#pragma acc parallel loop if (here)
    for (size_t i = many - 1; i != (size_t)-1; i--) b[i] += 2;
#pragma acc parallel loop if (here)
    for (unsigned i = zero - 1; i != ~0u; i--) b[i] += 4;
#pragma acc parallel loop if (here)
    for (int i = n - 1; i != -1; i += -1) a[i] += b[i];
}

/// Products that no number of the host holds.
static void far_products(int* a, int* b, int here) {
    unsigned cells = n;
#pragma acc parallel loop if (here)
    for (int i = 0; i < n; i++) {
        unsigned s = i;
        s = s * 1664525u + 1013904223u;
        s = s * 1664525u + 1013904223u;
        s = s * 1664525u + 1013904223u;
        b[i] = a[s % cells];
    }
#pragma acc parallel loop if (here)
    for (long i = 0; i < n; i++) {
        unsigned long s = i;
        s = (s * 25214903917ul + 11) % 281474976710656ul;
        s = (s * 25214903917ul + 11) % 281474976710656ul;
        b[i] += a[s % cells] + a[i * 1000003ul * 1000003ul * 1000003ul * 7919ul % cells];
    }
#pragma acc parallel loop if (here)
    for (unsigned i = 0; i < cells; i++) b[i] += a[(i * 2654435761u * 2246822519u) % cells];
}

/// Where a loop around has no iterations, nothing is used.
static void empty_loops(int* a, int* b, int here) {
    int none = 0, all = n;
#pragma acc parallel loop if (here)
    for (int i = 0; i < none; i++)
        for (int j = 0; j < 100 * all; j++) a[i + j] = b[j];
#pragma acc parallel loop if (here)
    for (int i = 0; i < none; i++) a[500] = b[-1 / 4u];
#pragma acc parallel loop if (here)
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < none; j++) a[i * 100 + 80] = b[j * 10 + all];
}

static int faults;
static void compare(const char* name, void (*run)(int*, int*, int)) {
    enum { size = 2 * n + 3 * margin };
    static int host[size], device[size];
    for (int i = 0; i < size; i++) host[i] = device[i] = i * i % 101;
    run(host + margin, host + n + 2 * margin, 0);
    int *before = device, *between = device + margin + n, *behind = device + size - margin;
#pragma acc enter data copyin(before[0 : margin], between[0 : margin], behind[0 : margin])
    run(before + margin, between + margin, 1);
#pragma acc exit data copyout(before[0 : margin], between[0 : margin], behind[0 : margin])
    for (int i = 0; i < size; i++)
        if (host[i] != device[i]) {
            printf("%s: element %d is %d, not %d\n", name, i, device[i], host[i]);
            faults++;
            break;
        }
}

int main(void) {
#define COMPARE(name) compare(#name, name)
    COMPARE(one_variable);
    COMPARE(halves);
    COMPARE(clamps);
    COMPARE(around);
    COMPARE(unsigned_numbers);
    COMPARE(guards);
    COMPARE(unsigned_guards);
    COMPARE(kept);
    COMPARE(steps);
    COMPARE(signs);
    COMPARE(structures);
    COMPARE(rows_as_one);
    COMPARE(other_names);
    COMPARE(values_of_others);
    COMPARE(written_guards);
    COMPARE(unsigned_guards_alone);
    COMPARE(squares);
    COMPARE(nothing_far_away);
    COMPARE(tied_loops);
    COMPARE(conversions);
    COMPARE(converted_loops);
    COMPARE(far_products);
    COMPARE(empty_loops);
    return faults != 0;
}
