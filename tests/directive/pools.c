// SPDX-License-Identifier: Apache-2.0
// Pointers in no clause that lead into one piece of memory: each region gives on the device what it gives on the host.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { n = 100 };

// An element before the array under a condition that the compiler sees.
static void seen_guard(int* w, int here) {
    int *b = w, *c = w + n;
#pragma acc parallel loop if (here)
    for (int i = 0; i < n; i++) b[i] = 100 + (i > 0 ? c[i - 1] : 0);
#pragma acc parallel loop if (here)
    for (int i = 0; i < n; i++) {
        b[i] += 7;
        if (i + 1 < n) c[i + 1] += b[i];
    }
}

// Under one that it does not see: the ranges overlap, what is accessed does not.
static void unseen_guard(int* w, int here) {
    int *a = w, *b = w + n, *c = w + 2 * n;
    b[0] = 2, b[n - 1] = 4;
#pragma acc parallel loop if (here)
    for (int i = 0; i < n; i++) {
        a[i] = 3 * i;
        if (b[i] & 1) a[i] += c[i - 1] + c[i + 1];
        c[i] += 0;
    }
}

static void three_stencils(int* w, int here) {
    int *a = w, *b = w + n, *c = w + 2 * n;
#pragma acc parallel loop if (here)
    for (int i = 0; i < n; i++) {
        int l = 0, r = 0;
        if (i > 0) l = b[i - 1];
        if (i < n - 1) r = b[i + 1];
        a[i] = l + r, c[i] = l - r;
    }
#pragma acc kernels if (here)
    for (int i = 0; i < n; i++) {
        a[i] = 2;
        if (i > 0) b[i] = b[i - 1] + a[i];
    }
}

static void grids(int* w, int here) {
    enum { m = 10 };
    int *u = w, *v = w + m * m, *p = w + 2 * m * m;
#pragma acc parallel loop collapse(2) if (here)
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++) {
            const int up = i > 0 ? p[(i - 1) * m + j] : 0, down = i < m - 1 ? p[(i + 1) * m + j] : 0;
            u[i * m + j] += down - up, v[i * m + j] -= up;
        }
}

// Each pointer sees what the other writes.
static void overlapping(int* p, int* q, int here) {
#pragma acc kernels if (here)
    for (int i = 0; i < n; i++) q[i] = p[i] + 1;
}
static void one_behind(int* w, int here) { overlapping(w, w + 1, here); }
static void one_before(int* w, int here) { overlapping(w + 1, w, here); }
static void apart(int* w, int here) { overlapping(w, w + n, here); }
static void the_same(int* w, int here) { overlapping(w, w, here); }

static int whole[2 * n];
static void into_an_array(int* p, int here) {
#pragma acc kernels if (here)
    {
        for (int i = 0; i < n; i++) p[i] = i;
        for (int i = 0; i < n; i++) whole[i] = p[i] + 1;
    }
}
static void array_and_pointer(int* w, int here) {
    memcpy(whole, w, sizeof whole);
    into_an_array(whole + 5, here);
    memcpy(w, whole, sizeof whole);
}

// Bytes from an odd address on, and the integers among them.
static void bytes(int* w, int here) {
    unsigned char* of = (unsigned char*)w + 3;
#pragma acc kernels if (here)
    {
        for (int i = 0; i < n; i++) w[1 + i] += i;
        for (int i = 0; i < 4 * n; i++) of[i] ^= 5;
    }
}

// A neighbour is mapped already.
static void beside_a_mapping(int* w, int here) {
    int *a = w, *b = w + n;
#pragma acc data copy(a[0 : n]) if (here)
    {
#pragma acc parallel loop if (here)
        for (int i = 0; i < n; i++) a[i] = -1;
#pragma acc parallel loop if (here)
        for (int i = 0; i < n; i++) {
            const int l = i > 0 ? b[i - 1] : 0;
            a[i] += l + b[i];
        }
    }
}

// The pointer's own value lies in the neighbour.
static void from_one_on(int* w, int here) {
    int *a = w, *b = w + n - 1;
#pragma acc data copy(a[0 : n]) if (here)
    {
#pragma acc parallel loop if (here)
        for (int i = 1; i <= n; i++) b[i] = 2 * i + a[i - 1];
    }
}
static void through_a_list(int* b, const int* at, int here) {
#pragma acc parallel loop copyin(at[0 : n]) if (here)
    for (int i = 0; i < n; i++) b[at[i]] += i;
}
static void list_from_one_on(int* w, int here) {
    int *a = w, *b = w + n - 1, at[n];
    for (int i = 0; i < n; i++) at[i] = n - i;
#pragma acc data copy(a[0 : n], b[1 : n]) if (here)
    {
        through_a_list(b, at, here);
#pragma acc parallel loop present(b) if (here)
        for (int i = 1; i <= n; i++) b[i] *= 3;
    }
}

// Memory beyond what is mapped through the same pointer.
static void add(int* w, int first, int last, int here) {
#pragma acc parallel loop if (here)
    for (int i = first; i < last; i++) w[i] += 4;
}
static void another_part(int* w, int here) {
#pragma acc data copy(w[0 : n]) if (here)
    {
        add(w, n, 2 * n, here);
        add(w, 0, n, here);
    }
}

// Memory that nobody may write.
static const int fixed[n] = {3, 1, 4, 1, 5, [n - 1] = 9};
static void only_read(int* w, int here) {
    const int *p = fixed, *behind = p + 1;
#pragma acc parallel loop if (here)
    for (int i = 0; i < n - 1; i++) w[i] += p[i] * behind[i];
}

static void no_iterations(int* w, int here) {
    const int none = w[n] - w[n];
#pragma acc parallel loop if (here)
    for (int i = 0; i < none; i++) w[i] = i;
#pragma acc kernels if (here)
    for (int i = none - 1; i >= 0; i--) w[i] = i;
}

static int faults;
static void compare(const char* name, void (*run)(int*, int)) {
    enum { all = 3 * n + 2 };
    int *host = malloc(all * sizeof(int)), *device = malloc(all * sizeof(int));
    for (int i = 0; i < all; i++) host[i] = device[i] = i * i % 101;
    run(host, 0);
    run(device, 1);
    for (int i = 0; i < all; i++)
        if (host[i] != device[i]) {
            printf("%s: element %d is %d, not %d\n", name, i, device[i], host[i]);
            faults++;
            break;
        }
    free(host);
    free(device);
}

int main(void) {
#define COMPARE(name) compare(#name, name)
    COMPARE(seen_guard);
    COMPARE(unseen_guard);
    COMPARE(three_stencils);
    COMPARE(grids);
    COMPARE(one_behind);
    COMPARE(one_before);
    COMPARE(apart);
    COMPARE(the_same);
    COMPARE(array_and_pointer);
    COMPARE(bytes);
    COMPARE(beside_a_mapping);
    COMPARE(from_one_on);
    COMPARE(list_from_one_on);
    COMPARE(another_part);
    COMPARE(only_read);
    COMPARE(no_iterations);
    return faults != 0;
}
