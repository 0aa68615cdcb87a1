// SPDX-License-Identifier: Apache-2.0
// Reductions in kernels that no clause names.
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

enum { N = 1000, ROWS = 30, COLUMNS = 40 };
static double u[ROWS][COLUMNS], v[ROWS][COLUMNS], x[N];
static int a[N];
static float f[N];
static int wrong;
static double total;

static void check(const char* what, double is, double expected) {
    if (is != expected) printf("wrong: %s: %g, not %g\n", what, is, expected), wrong++;
}

static void operators(int n) {
    int sum = 5, product = 1, most = -7, least = 900, all = ~0, any = 0, odd = 0, steps = 0;
    long wide = 1;
    unsigned char small = 250;
    bool found = false, every = true;
    float top = -1, bottom = 1e9f;
    double scaled = 2;
#pragma acc kernels
    {
        for (int i = 0; i < n; i++) sum += a[i];
        for (int i = 0; i < n; i++) product = (a[i] % 7 == 0 ? 3 : 1) * product;
        for (int i = 0; i < n; i++) most = a[i] > most ? a[i] : most;
        for (int i = 0; i < n; i++)
            if (a[i] < least) least = a[i];
        for (int i = 0; i < n; i++) all &= a[i] | 6;
        for (int i = 0; i < n; i++) any |= a[i];
        for (int i = 0; i < n; i++) odd = odd ^ a[i];
        for (int i = 0; i < n; i++)
            if (a[i] % 3 == 0) steps++;
        for (int i = 0; i < n; i++) wide = wide + a[i] - 2 * i;
        for (int i = 0; i < n; i++) small += a[i];
        for (int i = 0; i < n; i++) found = found || a[i] == 400;
        for (int i = 0; i < n; i++) every = every && a[i] < 400;
        for (int i = 0; i < n; i++) top = fmaxf(top, f[i]);
        for (int i = 0; i < n; i++) bottom = fmin(f[i], bottom);
        for (int i = 0; i < n; i++) scaled -= x[i];
    }
    int sum_is = 5, product_is = 1, most_is = -7, least_is = 900, all_is = ~0, any_is = 0, odd_is = 0, steps_is = 0;
    long wide_is = 1;
    unsigned char small_is = 250;
    bool found_is = false, every_is = true;
    float top_is = -1, bottom_is = 1e9f;
    double scaled_is = 2;
    for (int i = 0; i < n; i++) {
        sum_is += a[i];
        product_is *= a[i] % 7 == 0 ? 3 : 1;
        most_is = most_is > a[i] ? most_is : a[i];
        least_is = least_is < a[i] ? least_is : a[i];
        all_is &= a[i] | 6;
        any_is |= a[i];
        odd_is ^= a[i];
        steps_is += a[i] % 3 == 0;
        wide_is += a[i] - 2 * i;
        small_is += a[i];
        found_is |= a[i] == 400;
        every_is &= a[i] < 400;
        top_is = fmaxf(top_is, f[i]);
        bottom_is = fminf(bottom_is, f[i]);
        scaled_is -= x[i];
    }
    check("+", sum, sum_is), check("*", product, product_is), check("max", most, most_is);
    check("min", least, least_is), check("&", all, all_is), check("|", any, any_is), check("^", odd, odd_is);
    check("++", steps, steps_is), check("a sum and a difference", (double)wide, (double)wide_is);
    check("+ of characters", small, small_is), check("||", found, found_is), check("&&", every, every_is);
    check("fmaxf", top, top_is), check("fmin", bottom, bottom_is), check("-", scaled, scaled_is);
}

/// Of variables that no iteration changes, or that begin with what no reduction's identity is.
static void values_before(int n, int none) {
    int all = 5, any = 8, never = 6, seldom = 9, set = 7, zero = 0, one = 1, ends = 4;
    double nan = NAN, skipped = NAN, lost = NAN, negative = -0.0, top = -3;
    float nanf_ = NAN, least = 1e30f;
#pragma acc kernels
    {
        for (int i = 0; i < none; i++) all = all && a[i];
        for (int i = 0; i < none; i++) any = any || a[i];
        for (int i = 0; i < n; i++)
            if (a[i] < 0) never = never && a[i];
        for (int i = 0; i < n; i++)
            if (i == 700) seldom = seldom || a[i];
        for (int i = 0; i < n; i++) set = set && a[i] >= 0;
        for (int i = 0; i < n; i++) zero = zero && a[i] >= 0;
        for (int i = 0; i < n; i++) one = one || a[i] < 0;
        for (int i = 0; i < n; i++) ends = a[i] != 300 && ends;
    }
    check("&& of nothing", all, 5), check("|| of nothing", any, 8), check("&& in no iteration", never, 6);
    check("|| in one iteration", seldom, 1), check("&& of what is true", set, 1), check("&& of 0", zero, 0);
    check("|| of 1", one, 1), check("&& of what is false once", ends, 0);
    x[1] = 50, x[3] = NAN;
#pragma acc kernels
    {
        for (int i = 0; i < n; i++)
            if (x[i] > nan) nan = x[i];
        for (int i = 0; i < n; i++) skipped = fmax(skipped, x[i]);
        for (int i = 0; i < none; i++) lost = fmin(lost, x[i]);
        for (int i = 0; i < none; i++) negative += x[i];
        for (int i = 0; i < n; i++)
            if (x[i] > top) top = x[i];
        for (int i = 0; i < n; i++) nanf_ = f[i] < nanf_ ? f[i] : nanf_;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < 3; j++)
                if (f[i] <= least) least = f[i];
    }
    double skipped_is = NAN, top_is = -3;
    float least_is = 1e30f;
    for (int i = 0; i < n; i++) {
        skipped_is = fmax(skipped_is, x[i]);
        if (x[i] > top_is) top_is = x[i];
        if (f[i] <= least_is) least_is = f[i];
    }
    check("> NaN", isnan(nan), 1), check("fmax of NaN", skipped, skipped_is), check("fmin of nothing", isnan(lost), 1);
    check("-0.0 and nothing", signbit(negative) != 0, 1), check("a NaN among others", top, top_is);
    check("< NaN of floats", isnan(nanf_), 1), check("<= in loops in loops", least, least_is);
    // The next value follows a NaN here: in order.
    double order = -1, order_is = -1;
#pragma acc kernels
    for (int i = 0; i < n; i++) order = order > x[i] ? order : x[i];
    for (int i = 0; i < n; i++) order_is = order_is > x[i] ? order_is : x[i];
    check("what follows a NaN", order, order_is);
    x[1] = 1, x[3] = 3;
}

/// As in Jacobi's method: the error of all points, in loops in one another.
static void nests(int rows, int columns) {
    double error = 0, sum = 1, both = 0;
    int count = 0, inside = 0;
#pragma acc kernels copyin(u) copyout(v)
    {
        for (int i = 1; i < rows - 1; i++)
            for (int j = 1; j < columns - 1; j++) {
                v[i][j] = u[i][j] + 1;
                error = fmax(error, fabs(v[i][j] - 2 * u[i][j]));
            }
        for (int i = 0; i < rows; i++) {
            count++;
            for (int j = 0; j < columns; j++) sum += u[i][j];
            sum += 2;
        }
    }
    double error_is = 0, sum_is = 1;
    for (int i = 1; i < rows - 1; i++)
        for (int j = 1; j < columns - 1; j++) error_is = fmax(error_is, fabs(1 - u[i][j]));
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++) sum_is += u[i][j];
        sum_is += 2;
    }
    check("error", error, error_is), check("sum of rows", sum, sum_is), check("count", count, rows);
    // Rows that depend on the ones before: only columns are spread.
#pragma acc kernels copy(u) copy(both)
    for (int i = 1; i < rows; i++)
        for (int j = 0; j < columns; j++) {
            u[i][j] += u[i - 1][j];
            both += u[i][j];
        }
    double both_is = 0;
    for (int i = 1; i < rows; i++)
        for (int j = 0; j < columns; j++) both_is += u[i][j];
    check("sum of rows that depend on others", both, both_is);
#pragma acc kernels
    {
#pragma acc loop independent
        for (int i = 0; i < rows; i++) {
#pragma acc loop reduction(+ : inside)
            for (int j = 0; j < columns; j++) inside += j;
        }
    }
    check("a clause inside", inside, rows * columns * (columns - 1) / 2);
}

/// What the variable is to others: in a clause, in a data construct, at file scope.
static void places(int n) {
    int in_clause = 1, in_data = 2, combined = 3, none = 4, again = 5;
    total = 6;
#pragma acc kernels copy(in_clause)
    for (int i = 0; i < n; i++) in_clause += a[i];
#pragma acc data copy(in_data)
    {
#pragma acc kernels
        for (int i = 0; i < n; i++) in_data += a[i];
#pragma acc kernels present(in_data)
        for (int i = 0; i < n; i++) in_data += 1;
    }
#pragma acc kernels loop
    for (int i = 0; i < n; i++) combined += a[i];
#pragma acc kernels
    for (int i = n; i < n; i++) none += a[i];
#pragma acc kernels
    {
        again = 7;
        for (int i = 0; i < n; i++) again += a[i];
        again = 2 * again;
        for (int i = 0; i < n; i++) again += 1;
    }
#pragma acc kernels async
    for (int i = 0; i < n; i++) total += a[i];
#pragma acc wait
    int sum = 0;
    for (int i = 0; i < n; i++) sum += a[i];
    check("in a clause", in_clause, 1 + sum), check("in a data construct", in_data, 2 + sum + n);
    check("combined", combined, 3 + sum), check("no iterations", none, 4), check("again", again, 2 * (7 + sum) + n);
    check("at file scope", total, 6 + sum);
}

/// What looks like one, and is none.
static void others(int n) {
    int rounded = 20, running = 0, limited = 0, mixed = 1, taken = 0, divided = 1 << 20;
    unsigned apart = 5;
#pragma acc kernels
    {
        for (int i = 0; i < n; i++) rounded += 0.25;
        for (int i = 0; i < n; i++) a[i] = running += a[i];
        for (int i = 0; i < n; i++)
            if (limited < 100) limited += i;
        for (int i = 0; i < n; i++) {
            mixed += i;
            mixed ^= i;
        }
        for (int i = 0; i < n; i++) taken = i - taken;
        for (int i = 0; i < n; i++)
            if (i % 100 == 0) divided /= 2;
        for (int i = -3; i < 3; i++)
            if (i > apart) apart = i;
    }
    int running_is = 0, limited_is = 0, mixed_is = 1, taken_is = 0, divided_is = 1 << 20;
    unsigned apart_is = 5;
    for (int i = 0; i < n; i++) {
        running_is += i % 501;
        if (limited_is < 100) limited_is += i;
        mixed_is += i;
        mixed_is ^= i;
        taken_is = i - taken_is;
        if (i % 100 == 0) divided_is /= 2;
        if (a[i] != running_is) printf("wrong: element %d\n", i), wrong++;
    }
    for (int i = -3; i < 3; i++)
        if ((unsigned)i > apart_is) apart_is = (unsigned)i;
    check("rounded", rounded, 20), check("running", running, running_is), check("limited", limited, limited_is);
    check("two operators", mixed, mixed_is), check("from the other side", taken, taken_is);
    check("divided", divided, divided_is), check("signs", apart, apart_is);
}

/// Loops without iterations leave other values than 0 and 1, and comparisons with a NaN are false.
static void kept(int n, int none) {
    int five = 5, eight = 8;
    double from = NAN, to = NAN, number = NAN;
#pragma acc kernels
    {
        for (int i = 0; i < none; i++) five = five && a[i];
        for (int i = 0; i < none; i++) eight = eight || a[i];
        for (int i = 0; i < n; i++)
            if (x[i] < from) from = x[i];
        for (int i = 0; i < n; i++) to = x[i] > to ? x[i] : to;
        for (int i = 0; i < n; i++) number = fmax(number, x[i]);
    }
    check("&& without iterations", five, 5), check("|| without iterations", eight, 8);
    check("a NaN stays", isnan(from) && isnan(to), 1), check("fmax of a NaN", number, 12);
}

/// One variable, with another operator in each loop, found and by clauses.
static void several_operators(int n) {
    int t = 3, s = 4, is = 3, first = 0, second = 0;
#pragma acc kernels
    {
        for (int i = 0; i < n; i++) t += a[i];
        first = t;
        for (int i = 0; i < n; i++) t ^= a[i];
    }
#pragma acc kernels
    {
#pragma acc loop reduction(+ : s)
        for (int i = 0; i < n; i++) s += a[i];
        second = s;
#pragma acc loop reduction(max : s)
        for (int i = 0; i < n; i++) s = a[i] * n > s ? a[i] * n : s;
    }
    for (int i = 0; i < n; i++) is += a[i];
    check("the first operator", first, is);
    check("the first operator of a clause", second, is + 1);
    int most = is + 1;
    for (int i = 0; i < n; i++) is ^= a[i], most = a[i] * n > most ? a[i] * n : most;
    check("the second operator", t, is);
    check("the second operator of a clause", s, most);
}

int main(void) {
    for (int i = 0; i < N; i++) a[i] = i % 501, f[i] = (float)(i % 77) - 3, x[i] = i % 13;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) u[i][j] = (i * 7 + j * 3) % 19;
    operators(N);
    values_before(N, wrong);
    nests(ROWS, COLUMNS);
    places(N);
    others(N);
    several_operators(N);
    kept(N, 0);
    return wrong != 0;
}
