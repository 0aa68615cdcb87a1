/* SPDX-License-Identifier: Apache-2.0 */
/* Structures that attributes and `#pragma pack` lay out: kernels find each member where the host has it. */
#include <stdalign.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#pragma GCC diagnostic ignored "-Wpacked-not-aligned"

enum { N = 40 };

struct __attribute__((packed)) packed {
    char c;
    int i;
    double d;
};
#pragma pack(push, 2)
typedef struct {
    char c;
    long l;
    short s[3];
    float f;
} by_twos;
#pragma pack(pop)
typedef struct __attribute__((aligned(32))) {
    float x;
    char c;
} spread_out;
struct one_member_aligned {
    char c;
    float v __attribute__((aligned(16)));
    short s;
};
struct one_member_packed {
    char c;
    int i __attribute__((packed));
    short s;
    long l;
};
struct by_keyword {
    char c;
    alignas(8) char d;
    _Alignas(double) int i;
};
typedef int loose __attribute__((aligned(2)));
typedef float strict __attribute__((aligned(16)));
struct of_typedefs {
    char c;
    loose i;
    strict f;
    char last;
};
struct natural { /* without padding, whose bytes C leaves open */
    long l;
    double d;
};
struct __attribute__((packed)) nested {
    char c;
    struct natural n;
    struct packed p[2];
    spread_out a;
    union {
        int i;
        float f;
    };
    char last;
};
union __attribute__((packed)) both {
    double d;
    char c[11];
};
union __attribute__((aligned(16))) far_apart {
    int i;
    char c[5];
};
struct of_unions {
    char c;
    union both b;
    union far_apart f;
    short s;
};
enum __attribute__((packed)) small { SMALL = 3, OTHER };
struct of_small {
    char c;
    enum small e;
    _Bool b;
    int* p;
} __attribute__((packed));

static long sum_of(struct packed p, const struct nested* n) { return p.i + (long)p.d + n->n.l + n->p[1].i + n->last; }

/* Both ways must leave the same bytes: the members alone are set, of all elements or of those from the fourth on. */
#define SAME(type, ...)                                                                                                \
    static int same_##type(int n) {                                                                                    \
        int wrong = 0;                                                                                                 \
        for (int first = 0; first <= 3; first += 3) {                                                                  \
            static type host[N], device[N];                                                                            \
            memset(host, 0x55, sizeof host), memset(device, 0x55, sizeof device);                                      \
            for (int way = 0; way < 2; way++) {                                                                        \
                type* v = way ? host : device;                                                                         \
                _Pragma("acc parallel loop copy(v[first:n-first]) if(way == 0)") for (int i = first; i < n; i++) {     \
                    __VA_ARGS__                                                                                        \
                }                                                                                                      \
            }                                                                                                          \
            wrong |= memcmp(host, device, sizeof host) != 0;                                                           \
        }                                                                                                              \
        if (wrong) fprintf(stderr, "layouts: %s differs\n", #type);                                                    \
        return wrong;                                                                                                  \
    }

typedef struct packed packed;
typedef struct one_member_aligned one_member_aligned;
typedef struct one_member_packed one_member_packed;
typedef struct by_keyword by_keyword;
typedef struct of_typedefs of_typedefs;
typedef struct nested nested;
typedef struct of_unions of_unions;
typedef struct of_small of_small;

SAME(packed, v[i].c = i; v[i].i = 1000 * i; v[i].d = 0.5 * i + v[i].i;)
SAME(by_twos, v[i].c = i; v[i].l = 1L << 40 | i; v[i].s[2] = i; v[i].s[i % 2] = 7; v[i].f = i;)
SAME(spread_out, v[i].x = i; v[i].c = i;)
SAME(one_member_aligned, v[i].c = i; v[i].v = i; v[i].s = i; struct one_member_aligned own = {1, 2, 3};
     v[i].s += own.v;)
SAME(one_member_packed, v[i].c = i; v[i].i = i; v[i].s = i; v[i].l = -i;)
SAME(by_keyword, v[i].c = i; v[i].d = i; v[i].i = i;)
SAME(of_typedefs, v[i].c = i; v[i].i = i; v[i].f = i; v[i].last = i;)
SAME(nested, v[i].c = i; v[i].n = (struct natural){i, i}; v[i].p[1].i = i; v[i].p[1].d = i; v[i].a.x = i; v[i].f = i;
     v[i].last = sum_of(v[i].p[1], &v[i]) + offsetof(struct nested, last);)
SAME(of_unions, v[i].c = i; v[i].b.c[10] = i; v[i].f.i = i; v[i].s = i + sizeof(union both); v[i].b.d = i;)
SAME(of_small, v[i].c = i; v[i].e = i % 2 ? SMALL : OTHER; v[i].b = i;)

/* Copies of a thread, of a gang and in the arguments. */
static int copies(int n) {
    struct packed first = {1, 2, 3}, every[3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
    struct one_member_aligned apart = {1, 2, 3};
    long r[N];
#pragma acc parallel loop copyout(r[0 : n]) firstprivate(first, every, apart)
    for (int i = 0; i < n; i++) {
        struct packed own[2] = {{.i = i}, {1, i, .d = 2}};
        every[i % 3].i += i;
        first.i += own[1].i;
        r[i] = first.i + every[i % 3].i * 100 + own[0].i * 10000L + (long)own[1].d + (long)apart.v * 7 + apart.s;
        every[i % 3].i -= i;
        first.i -= own[1].i;
    }
    int wrong = 0;
    for (int i = 0; i < n; i++) wrong |= r[i] != 2 + i + (2 + 3 * (i % 3) + i) * 100 + i * 10000L + 2 + 14 + 3;
    if (wrong) fprintf(stderr, "layouts: copies are wrong\n");
    return wrong;
}

int main(void) {
    return same_packed(N) + same_by_twos(N) + same_spread_out(N) + same_one_member_aligned(N) +
           same_one_member_packed(N) + same_by_keyword(N) + same_of_typedefs(N) + same_nested(N) + same_of_unions(N) +
           same_of_small(N) + copies(N);
}
