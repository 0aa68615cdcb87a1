/* SPDX-License-Identifier: Apache-2.0 */
/* C that OpenCL C spells otherwise, or not at all: regions give the same on the device as on the host. */
#define _GNU_SOURCE
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N = 100 };
static double x[N], y[N];
static int a[N], b[N];
static unsigned long u[N];
struct point {
    int x, y;
    double z[3];
};
union word {
    int i;
    float f;
};
static const int constants[4] = {3, 1, 4, 1};
static const double factor = 6.5;

static int sum_of(struct point p) { return p.x + p.y + (int)(2 * p.z[1]); }
static int entry(int i) {
    static const int table[4] = {2, 7, 1, 8};
    return table[i & 3];
}
static double scaled(int i) { return factor * i; }

/* Both ways must leave the same. */
#define SAME(name, ...)                                                                                                \
    static int name(void) {                                                                                            \
        unsigned long hashes[2];                                                                                       \
        for (int way = 0; way < 2; way++) {                                                                            \
            for (int i = 0; i < N; i++) x[i] = i * 0.75, y[i] = 0, a[i] = i * 3 % 17, b[i] = 0, u[i] = i * 77ul;       \
            _Pragma("acc parallel loop if(way == 0)") for (int i = 0; i < N; i++){__VA_ARGS__} hashes[way] = 0;        \
            for (int i = 0; i < N; i++) {                                                                              \
                unsigned long bits;                                                                                    \
                memcpy(&bits, &y[i], sizeof bits);                                                                     \
                hashes[way] = ((hashes[way] * 31 + b[i]) * 31 + u[i]) * 31 + bits;                                     \
            }                                                                                                          \
        }                                                                                                              \
        if (hashes[0] != hashes[1]) fprintf(stderr, "expressions: %s differs\n", #name);                               \
        return hashes[0] != hashes[1];                                                                                 \
    }

SAME(choices, b[i] = a[i] ?: 7; u[i] = (a[i] - 3)
                                           ?: a[i] > 3 ? a[i] < 9 ? 1 : 2
                                                       : 3;
     const int* p = a[i] > 3 ? &a[1] : &a[2]; struct point s = {1, 2}, t = {3, 4}; y[i] = (a[i] & 1 ? s : t).y + *p;)
SAME(compound_literals, struct point s = (struct point){a[i], 2, {3, 4}}; b[i] = sum_of(s);
     s = (struct point){.y = a[i]}; u[i] = sum_of(s) + (int[]){4, 5, 6}[a[i] % 3] + sum_of((struct point){a[i], 3});)
SAME(designators, struct point s = {.y = a[i], .z = {[1] = 2.5}}; int t[5] = {[3] = a[i], [1] = 2};
     union word w = {.f = 1.5f}; b[i] = sum_of(s); u[i] = w.i + t[0] + t[1] + t[2] * 3 + t[3] * 5 + t[4] * 7;)
/* Unions within structures, by members that are not their first. */
union number {
    double d;
    long l;
    struct {
        int low, high;
    } parts;
};
struct tagged {
    int kind;
    union number v;
    union {
        float f;
        unsigned bits;
        struct {
            short s[2];
        };
    };
    union number many[2];
};
static long number_of(struct tagged t) { return t.kind + t.v.l + 3l * t.bits + 5 * t.many[0].l + 7 * t.many[1].l; }
static const struct tagged known = {2, .v.l = 5, .bits = 6, .many = {[1].parts.high = 7}};
SAME(unions_of_structures, struct tagged s = {.kind = i, .v.l = a[i] + 7, .bits = 9u + i};
     struct tagged t = {.v = {.l = i}, .many = {{.l = 4}, {.parts = {a[i], 2}}}};
     u[i] = number_of(s) + 11 * number_of(t); s = (struct tagged){i, {.l = 3}, {.bits = 5}, .many[1].parts.low = i};
     u[i] = u[i] * 3 + number_of(s); t = (struct tagged){i, {2.5}, {1.5f}, {{3}, {.l = 8}}};
     u[i] = u[i] * 3 + number_of(t);
     struct tagged r[2] = {[1].v.parts = {1, i}, [0] = {.s = {3, a[i]}, .v.parts.high = 2}};
     u[i] = u[i] * 3 + number_of(r[0]) + 13 * number_of(r[1]);
     b[i] = number_of((struct tagged){.many = {[0] = {.parts.high = i}}, .v = (union number){.l = 6}});
     union number w[2] = {{.l = i}, [1].parts.high = 4}; y[i] = w[0].l + w[1].parts.high; u[i] += number_of(known);)
SAME(bits, b[i] = __builtin_popcount(-a[i]) + __builtin_popcountl(u[i]) + __builtin_popcountll(~u[i]) * 100;
     u[i] = __builtin_clz(a[i] | 1) + __builtin_clzl(u[i] | 1) * 64 + __builtin_ctz(a[i] | 16) * 4096 +
            __builtin_ctzll(u[i] | 1ul << 50) + __builtin_ffs(a[i]) + __builtin_ffsll(u[i]) * 3 + ffs(a[i]) +
            __builtin_parity(a[i]) * 7;
     y[i] = __builtin_bswap16(a[i]) + __builtin_bswap32(a[i]) + (double)__builtin_bswap64(a[i]);)
SAME(limits_of_types, y[i] = x[i] > 50   ? INFINITY
                             : x[i] > 20 ? -HUGE_VAL
                                         : DBL_MAX / 2 + DBL_MIN;
     b[i] = INT_MIN + (UINT_MAX > 5u) + (x[i] < FLT_EPSILON); u[i] = ULONG_MAX - __builtin_constant_p(3);)
SAME(classes, const double v = i == 3   ? INFINITY
                               : i == 4 ? NAN
                               : i == 5 ? -INFINITY
                               : i == 6 ? 1e-310
                                        : x[i] - 20;
     b[i] = (isnan(v) != 0) + 2 * (isinf(v) != 0) + 4 * (isnormal(v) != 0) + 8 * (signbit(v) != 0) +
            16 * (isfinite(v) != 0) + 32 * (isgreater(v, 2.0) != 0) + 64 * (islessequal(v, 3.0) != 0) +
            128 * (isunordered(v, 1.0) != 0);)
SAME(roundings,
     b[i] = lround(x[i]) + 3 * lrint(x[i]) + 5 * (int)llround(-x[i]) + 7 * (int)nearbyint(x[i]) + 11 * ilogb(x[i] + 2);
     y[i] = rintf(x[i]) + nearbyintf(x[i]) + roundf(x[i]) + lroundf(x[i]) + scalbn(x[i], 3) + ldexp(x[i], 2) +
            scalbln(x[i], 2L);)
SAME(several_results, int exponent; double whole;
     const double part = frexp(x[i] + 1, &exponent), rest = modf(x[i], &whole);
     y[i] = part + 2 * exponent + 4 * rest + 8 * whole; float single; b[i] = modff((float)x[i], &single) * 100 + single;
     double sine, cosine; sincos(x[i], &sine, &cosine); u[i] = sine * sine + cosine * cosine > 0.999;)
SAME(more_of_c99, int quotient; y[i] = remquo(x[i], 3.25, &quotient); b[i] = quotient & 7;
     y[i] += remquof(x[i], 2.5f, &quotient); b[i] += (quotient & 7) * 10;
     b[i] += (isnan(nan("")) && isnan(nanf("1"))) * 100; const double v = i == 3   ? INFINITY
                                                                          : i == 4 ? NAN
                                                                          : i == 6 ? 1e-310
                                                                          : i == 7 ? -0.0
                                                                                   : x[i];
     const float f = i; u[i] = fpclassify(v) + 10 * fpclassify(f) + u8"string"[i % 6];)
SAME(heads, int s = 0; for (int j = 0, k = 3; j < 4; j++, k += 2) s += j * k;
     for (int* p = &a[0], k = 0; k < i % 7; k++) s += *p++; b[i] = s;)
SAME(
    ranges_of_cases, switch (a[i] % 9) {
case -3 ... 3: b[i] = 1; break;
case 5: b[i] = 2;
default: b[i] += 9;
    })
SAME(tables, static const double own[3] = {1, 2.5, 3}; b[i] = constants[a[i] & 3] + entry(a[i]);
     y[i] = own[i % 3] + scaled(i);)
/* Structures of one tag, in blocks and in two functions. */
SAME(
    tags,
    {
        struct tag {
            int q;
        } z = {i};
        b[i] = z.q;
    } {
        struct tag {
            double q;
        } w = {0.5 + i};
        y[i] = w.q;
    } {
        union tag {
            unsigned q;
            float f;
        } v = {.f = 1.5f};
        u[i] = v.q;
    } {
        enum tag { Q = 3 };
        typedef struct {
            char q[Q];
        } T;
        T t = {{1, 2, 3}};
        b[i] += t.q[i % 3];
    } {
        typedef struct {
            long q;
        } T;
        T t = {1L << 40};
        u[i] += t.q;
    })
SAME(tags_again, struct tag { float q[3]; } z = {{i, 2, 3}}; struct tag_2 { char q; } t = {7}; b[i] = z.q[i % 3] + t.q;)
static int sized(int x) { return x + (int)sizeof(sized(x)); }
SAME(sizes_of_calls, b[i] = sized(a[i]);)
SAME(assertions, _Static_assert(sizeof(int) == 4, "an int has four bytes"); b[i] = a[i] + 1;)
SAME(own_block, int i = 5; b[i] = a[i] + i;)
static int half(int x) { return x / 2; }
static int acc_rest(int x) { return half(x) + 1; }
/* Names that kernels have for themselves. */
static int names(void) {
    const int acc_scratch = 7, acc_gangs = 3;
    int wrong = 0;
#pragma acc parallel loop copyout(a)
    for (int acc_lane = 0; acc_lane < N; acc_lane++) {
        int sum = acc_scratch;
#pragma acc loop vector reduction(+ : sum)
        for (int acc_self = 0; acc_self < 5; acc_self++) sum += acc_self;
        a[acc_lane] = acc_gangs * acc_rest(acc_lane) + sum;
    }
    for (int i = 0; i < N; i++) wrong += a[i] != 3 * (i / 2 + 1) + 17;
    if (wrong) printf("names: %d differ\n", wrong);
    return wrong;
}

static const int few[3] = {5, 6, 7}, grid[2][3] = {{1, 2, 3}, {4, 5, 6}};
static const struct point origin = {3, 4, {0.5, 1.5, 2.5}};
static const char letters[] = "letters";
static int last_of(const int* table, int n) { return table[n - 1]; }
static int from_tables(int i) {
    return few[i % 3] + grid[i % 2][i % 3] * 10 + origin.y * 100 + (int)(origin.z[i % 3] * 2) + letters[i % 7] +
           last_of(few, 1 + i % 3);
}
SAME(constant_tables, b[i] = from_tables(i) + few[i % 2]; u[i] = from_tables(a[i]);)
static int squared(int x) { return x * x; }
static int half_of_square(int x) { return squared(x) / 2; }
SAME(functions_of_functions, b[i] = squared(a[i]) + half_of_square(a[i]); u[i] = half_of_square(i) - squared(i);)

int main(void) {
    return functions_of_functions() + constant_tables() + own_block() + names() + choices() + compound_literals() +
           designators() + unions_of_structures() + bits() + limits_of_types() + classes() + roundings() +
           several_results() + more_of_c99() + heads() + ranges_of_cases() + tables() + tags() + tags_again() +
           assertions() + sizes_of_calls();
}
