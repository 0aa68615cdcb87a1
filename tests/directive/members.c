/* SPDX-License-Identifier: Apache-2.0 */
/* Pointers that are members of structures, in clauses and regions. */
#include <openacc.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1000 };

struct inner {
    double* c;
};
struct mesh {
    int n;
    double *a, *b;
    struct inner in;
    struct inner* far;
};

static struct mesh everywhere;

static int wrong;

static void expect(const char* what, const double* values, double factor, double more) {
    int good = 1;
    for (int i = 0; i < N; i++) good &= values[i] == factor * i + more;
    if (!good) printf("%s is wrong\n", what);
    wrong |= !good;
}

static struct mesh made(struct inner* far) {
    struct mesh m = {N, malloc(N * sizeof(double)), malloc(N * sizeof(double)), {malloc(N * sizeof(double))}, far};
    far->c = malloc(N * sizeof(double));
    for (int i = 0; i < N; i++) m.a[i] = i, m.b[i] = m.in.c[i] = far->c[i] = 0;
    return m;
}

static void freed(const struct mesh* m) { free(m->a), free(m->b), free(m->in.c), free(m->far->c); }

static void in_clauses(int n) {
    struct inner far;
    struct mesh s = made(&far);
#pragma acc data copyin(s.a[0 : n]) copyout(s.b[0 : n])
    {
#pragma acc parallel loop
        for (int i = 0; i < n; i++) s.b[i] = 2 * s.a[i];
    }
    expect("a member of a structure", s.b, 2, 0);
#pragma acc parallel loop copy(s.b[0 : n]) copyin(s.a[0 : n])
    for (int i = 0; i < n; i++) s.b[i] += s.a[i];
    expect("a member in a clause of the region", s.b, 3, 0);
#pragma acc parallel loop copy(s.b[0 : n]) if (n < 0)
    for (int i = 0; i < n; i++) s.b[i] += 1;
    expect("a member on the host", s.b, 3, 1);
    freed(&s);
}

static double first_of(const double* values, int at) { return values[at]; }

static void through_pointers(struct mesh* m, int n) {
#pragma acc enter data copyin(m->a[0 : n]) create(m -> b[0 : n], m->in.c[0 : n], m->far->c[0 : n])
#pragma acc kernels present(m->a, m->b)
    for (int i = 0; i < n; i++) m->b[i] = m->a[i] + 1;
#pragma acc parallel loop present(m->a[0 : n], m->in.c[0 : n], m->far->c[0 : n])
    for (int i = 0; i < n; i++) {
        const double* own = &m->a[i];
        m->in.c[i] = *own + first_of(m->a, i);
        m->far->c[i] = 3 * *own;
    }
    double sum = 0;
#pragma acc parallel loop present(m->b) reduction(+ : sum)
    for (int i = 0; i < n; i++) sum += m->b[i];
    wrong |= sum != 0.5 * N * (N + 1);
    m->b[0] = m->b[n - 1] = -7;
#pragma acc update self(m->b[1 : n - 2]) async(1)
#pragma acc update self(m->in.c) wait(1)
#pragma acc exit data delete (m->a, m->b, m->in.c)copyout(m->far->c[0 : n])
    wrong |= m->b[0] != -7 || m->b[n - 1] != -7;
    m->b[0] = 1, m->b[n - 1] = n;
    expect("a member behind a pointer", m->b, 1, 1);
    expect("a member of a member", m->in.c, 2, 0);
    expect("a member behind two pointers", m->far->c, 3, 0);
    wrong |= acc_is_present(m->b, sizeof(double));
}

struct grid {
    int n;
    float (*u)[8];
    double** w;
};

/* Members that point to rows, as variables of their types do. */
static void rows(struct grid* g, int n) {
    float sum = 0;
#pragma acc enter data copyin(g->w[0 : n][0 : 8])
#pragma acc parallel loop collapse(2) copyout(g->u[0 : n])
    for (int y = 0; y < n; y++)
        for (int x = 0; x < 8; x++) g->u[y][x] = y * 8 + x;
#pragma acc parallel loop
    for (int y = 0; y < n; y++)
        for (int x = 0; x < 8; x++) g->u[y][x] += 2;
#pragma acc data copy(g->u[0 : n])
    {
#pragma acc kernels
        for (int y = 0; y < n; y++)
            for (int x = 0; x < 8; x++) g->u[y][x] *= 2, sum += g->u[y][x];
#pragma acc update self(g->u[1 : 2])
        wrong |= g->u[1][0] != 20 || g->u[0][0] != 2;
#pragma acc parallel loop present(g->w)
        for (int y = 0; y < n; y++)
            for (int x = 0; x < 8; x++) g->w[y][x] += g->u[y][x];
    }
#pragma acc exit data copyout(g->w[0 : n][0 : 8])
    float wanted = 0;
    for (int i = 0; i < 8 * n; i++) {
        wanted += 2 * i + 4;
        wrong |= g->u[0][i] != 2 * i + 4 || g->w[i / 8][i % 8] != 3 * i + 4;
    }
    wrong |= sum != wanted;
    if (wrong) puts("members that point to rows are wrong");
}

/* The pointers may be others at each launch. */
static void exchanged(int n) {
#pragma acc data copyin(everywhere.a[0 : n]) copyout(everywhere.b[0 : n])
    for (int step = 0; step < 3; step++) {
#pragma acc parallel loop gang vector present(everywhere.a, everywhere.b)
        for (int i = 0; i < n; i++) everywhere.b[i] = everywhere.a[i] + 1;
        if (step == 2) break;
        double* const old = everywhere.a;
        everywhere.a = everywhere.b, everywhere.b = old;
    }
    expect("members that were exchanged", everywhere.b, 1, 3);
}

/* As programs for other compilers have it. */
static void attached(struct mesh* m, int n) {
#pragma acc enter data copyin(m[0 : 1])
#pragma acc enter data copyin(m->a[0 : n]) create(m -> b[0 : n])
    acc_attach((void**)&m->a);
#pragma acc enter data attach(m->b)
#pragma acc parallel loop default(present)
    for (int i = 0; i < m->n; i++) m->b[i] = m->a[i] * m->n;
#pragma acc exit data detach(m->a)
    acc_detach((void**)&m->b);
#pragma acc data attach(m->a)
    {
#pragma acc exit data copyout(m->b[0 : n]) delete (m -> a[0 : n])
    }
#pragma acc exit data delete (m[0 : 1])
    expect("attached members", m->b, N, 0);
}

int main(void) {
    struct inner far;
    struct mesh m = made(&far);
    float u[5][8];
    double w[5][8], *of_w[5];
    struct grid g = {5, u, of_w};
    for (int i = 0; i < 40; i++) u[i / 8][i % 8] = 0, w[i / 8][i % 8] = i, of_w[i / 8] = w[i / 8];
    rows(&g, 5);
    in_clauses(N);
    through_pointers(&m, N);
    attached(&m, N);
    everywhere = m;
    exchanged(N);
    freed(&m);
    return wrong;
}
