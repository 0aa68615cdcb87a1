/* SPDX-License-Identifier: Apache-2.0 */
/* What threads of gangs share, and in which order they see it: each function is one rule, and says if it is broken. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;
static void expect(int holds, const char* rule) {
    if (holds) return;
    failures++;
    fprintf(stderr, "gangs: broken: %s\n", rule);
}

static void redundant(void) {
    enum { n = 40 };
    int a[n], b[n], count[4] = {0, 0, 0, 0};
    for (int i = 0; i < n; i++) a[i] = b[i] = 0;
#pragma acc parallel copy(a, b, count) num_gangs(1) num_workers(2) vector_length(8)
    {
        count[0] += 1; /* once in the gang, though each of its threads comes by */
#pragma acc loop worker vector
        for (int i = 0; i < n; i++) a[i] = i + count[0];
        count[1] = count[0] + a[n - 1];
#pragma acc loop vector
        for (int i = 0; i < n; i++) b[i] = a[n - 1 - i] + count[1];
        if (b[3] > 0) count[2]++;
    }
    int wrong = count[0] != 1 || count[1] != n + 1 || count[2] != 1;
    for (int i = 0; i < n; i++) wrong += a[i] != i + 1 || b[i] != n - i + n + 1;
    expect(!wrong, "code outside of loops runs once in a gang, in order with its loops");
}

/* What a gang reads by one pointer, and its lanes write by another: once each, and in the order of the text. */
static void overlapping_of_gangs(void) {
    enum { rows = 8, columns = 40 };
    static int a[rows * columns], first[rows], steps[rows * columns];
    int wrong = 0;
    for (int i = 0; i < rows * columns; i++) a[i] = i % columns, steps[i] = i % columns;
    int *const p = a, *const q = a + 1, *const x = steps, *const y = steps + 1;
#pragma acc data copy(a, steps) copyout(first)
    {
#pragma acc parallel loop gang present(p, q, first) vector_length(32)
        for (int i = 0; i < rows; i++) {
            const int old = q[i * columns];
#pragma acc loop vector
            for (int j = 0; j < columns; j++) p[i * columns + j] += 10 * old;
            first[i] = q[i * columns] + old;
        }
#pragma acc parallel loop gang present(x, y) vector_length(32)
        for (int i = 0; i < rows; i++) {
            y[i * columns] = x[i * columns + 1] + 1;
            y[i * columns] = x[i * columns + 1] * 2;
#pragma acc loop vector
            for (int j = 2; j < columns; j++) x[i * columns + j] += y[i * columns];
        }
    }
    for (int i = 0; i < rows; i++) wrong += first[i] != 12;
    for (int i = 0; i < rows * columns; i++) {
        const int j = i % columns;
        wrong += a[i] != j + 10 || steps[i] != (j == 0 ? 0 : j == 1 ? 4 : j + 4);
    }
    expect(!wrong, "pointers of a gang and of its lanes overlap");
}

static double mirrored[8][64];
static void expect_mirrored(const char* rule) {
    int right = 1;
    for (int x = 0; x < 8; x++)
        for (int j = 0; j < 64; j++) {
            right = right && mirrored[x][j] == x * 100 + 63 - j;
            mirrored[x][j] = -1;
        }
    expect(right, rule);
}

/* Lanes of a gang share its private arrays. */
struct box {
    double v[64];
};
static void structures_of_gangs(void) {
    struct box given;
#pragma acc parallel loop gang num_gangs(4) copyout(mirrored)
    for (int x = 0; x < 8; x++) {
        struct box inside;
#pragma acc loop vector
        for (int j = 0; j < 64; j++) inside.v[j] = x * 100 + j;
#pragma acc loop vector
        for (int j = 0; j < 64; j++) mirrored[x][j] = inside.v[63 - j];
    }
    expect_mirrored("and to arrays in structures");
#pragma acc parallel num_gangs(4) copyout(mirrored) private(given)
    {
#pragma acc loop gang
        for (int x = 0; x < 8; x++) {
#pragma acc loop vector
            for (int j = 0; j < 64; j++) given.v[j] = x * 100 + j;
#pragma acc loop vector
            for (int j = 0; j < 64; j++) mirrored[x][j] = given.v[63 - j];
        }
    }
    expect_mirrored("and to those in private structures");
}

static void arrays_of_gangs(int n) {
    double fixed[64], *const section = malloc(64 * sizeof *section);
#pragma acc parallel loop gang num_gangs(4) copyout(mirrored)
    for (int x = 0; x < 8; x++) {
        double inside[64];
#pragma acc loop vector
        for (int j = 0; j < 64; j++) inside[j] = x * 100 + j;
#pragma acc loop vector
        for (int j = 0; j < 64; j++) mirrored[x][j] = inside[63 - j];
    }
    expect_mirrored("lanes see what others wrote to an array that is declared around them");
#pragma acc parallel num_gangs(4) copyout(mirrored) private(fixed, section[0 : n])
    {
#pragma acc loop gang
        for (int x = 0; x < 8; x++) {
#pragma acc loop worker
            for (int j = 0; j < 64; j++) section[j] = 0;
#pragma acc loop vector
            for (int j = 0; j < 64; j++) fixed[j] = x * 100 + j;
#pragma acc loop vector
            for (int j = 0; j < 64; j++) mirrored[x][j] = fixed[63 - j] + section[j];
        }
    }
    expect_mirrored("and to private arrays of the construct");
#pragma acc parallel loop gang num_gangs(4) copyout(mirrored) private(fixed, section[0 : n])
    for (int x = 0; x < 8; x++) {
        for (int j = 0; j < 64; j++) section[j] = x * 100 + j;
#pragma acc loop vector
        for (int j = 0; j < 64; j++) fixed[j] = 0;
#pragma acc loop vector
        for (int j = 0; j < 64; j++) mirrored[x][j] = section[63 - j] + fixed[j];
    }
    expect_mirrored("and to those of a loop over gangs");
    free(section);
}

static void reduced_by_the_construct(int n) {
    int sum = 5, other = 1;
#pragma acc parallel reduction(+ : sum)
    {
#pragma acc loop
        for (int i = 0; i < n; i++) sum += i;
    }
    expect(sum == 5 + n * (n - 1) / 2, "a loop reduces what its construct does");
#pragma acc parallel reduction(+ : other) num_gangs(3)
    {
#pragma acc loop gang
        for (int i = 0; i < n; i++) {
#pragma acc loop vector
            for (int j = 0; j < n; j++) other += j;
        }
    }
    expect(other == 1 + n * n * (n - 1) / 2, "and so do loops inside");
}

/* Threads of a gang go at their own pace: what one writes the others see after it, and not before. */
static void pace_of_threads(void) {
    enum { rows = 12, columns = 96 };
    static double a[rows][columns], wanted[rows][columns];
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) a[i][j] = wanted[i][j] = i + j * 0.5 + 1;
#pragma acc parallel loop gang copy(a) vector_length(32)
    for (int i = 0; i < rows; i++) {
        double x = a[i][0];
#pragma acc loop vector
        for (int j = 0; j < columns; j++) a[i][j] += x;
    }
    int right = 1;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) right &= a[i][j] == wanted[i][j] + wanted[i][0];
    expect(right, "a gang reads its row before its lanes change it");
#pragma acc parallel loop gang copy(a) vector_length(32)
    for (int i = 0; i < rows; i++) {
        double t[columns], *p;
        p = t;
#pragma acc loop vector
        for (int j = 0; j < columns; j++) p[j] = a[i][j] * 2;
#pragma acc loop vector
        for (int j = 0; j < columns; j++) a[i][j] = t[columns - 1 - j] + p[(j + 7) % columns];
    }
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            right &= a[i][j] == 2 * (wanted[i][columns - 1 - j] + wanted[i][(j + 7) % columns] + 2 * wanted[i][0]);
    expect(right, "a gang's array is written through a pointer to it");
    int found[rows], sums[rows];
#pragma acc parallel loop gang copyout(found, sums) vector_length(32)
    for (int i = 0; i < rows; i++) {
        int x = -1, y = i, *at = &y;
        *at += 1;
        (*at)++;
#pragma acc loop vector
        for (int j = 0; j < columns; j++)
            if (j == (i * 37) % columns) x = j;
        found[i] = x;
        sums[i] = y;
    }
    for (int i = 0; i < rows; i++) right &= found[i] == (i * 37) % columns && sums[i] == i + 2;
    expect(right, "a gang's scalar is written by one of its lanes, and through a pointer");
    int part[128];
#pragma acc parallel num_gangs(3) vector_length(32) copyout(part)
    {
        int t[128];
#pragma acc loop vector
        for (int j = 0; j < 128; j++) t[j] = j;
        int* p = t + 1;
#pragma acc loop vector
        for (int j = 0; j < 127; j++) p[j] += 1;
#pragma acc loop gang vector
        for (int j = 0; j < 128; j++) part[j] = t[j];
    }
    for (int j = 0; j < 128; j++) right &= part[j] == j + (j > 0);
    expect(right, "a loop over lanes alone is done by each gang");
    int steps[8] = {0}, many[64] = {5};
#pragma acc parallel num_gangs(1) vector_length(32) copy(steps, many)
    {
        if (many[0] > 3) {
            steps[0] = many[0];
            steps[1] += steps[0];
            if (steps[1] > 100) steps[2]++;
        } else {
            steps[3]++;
        }
        for (int k = 4; k < 8; k++) steps[k] += steps[k - 1] + 1;
#pragma acc loop vector
        for (int j = 0; j < 64; j++) many[j] += steps[7];
    }
    expect(steps[1] == 5 && steps[3] == 0 && steps[7] == 4 && many[0] == 9 && many[63] == 4,
           "statements of a gang that build on each other");
}

/* What a lane writes last is what its gang goes on with, also where a jump passes by what would replace it. */
static void jumps_past_writes(void) {
    enum { rows = 10, columns = 48 };
    int left[rows], skipped[rows], chosen[rows], cases[rows], wrong = 0;
#pragma acc parallel loop gang copyout(left, skipped, chosen, cases) vector_length(32)
    for (int i = 0; i < rows; i++) {
        int x = -1, y = -1, z = -1, w = -1;
        for (int k = 0; k < 4; k++) {
#pragma acc loop vector
            for (int j = 0; j < columns; j++)
                if (j == 3 * i + k) x = j;
            if (k == i % 4) break;
            x = -2;
        }
        left[i] = x;
        for (int k = 0; k < 3; k++) {
            {
#pragma acc loop vector
                for (int j = 0; j < columns; j++)
                    if (j == 4 * i + k) y = j;
                if (k >= i % 3) continue;
            }
            y = -2;
        }
        skipped[i] = y;
        switch (i % 2) {
        case 0:
#pragma acc loop vector
            for (int j = 0; j < columns; j++)
                if (j == i + 5) z = j;
            break;
        default: chosen[i] = 0; z = -7;
        }
        chosen[i] = z;
        for (int k = 0; k < 2; k++) {
            switch (k) {
            case 0:
#pragma acc loop vector
                for (int j = 0; j < columns; j++)
                    if (j == i + 9) w = j;
                break;
            case 1: cases[i] = w; break;
            }
        }
    }
    for (int i = 0; i < rows; i++)
        wrong += left[i] != 3 * i + i % 4 || skipped[i] != 4 * i + 2 || chosen[i] != (i % 2 ? -7 : i + 5) ||
                 cases[i] != i + 9;
    expect(!wrong, "what a lane wrote survives a jump past the next assignment");
}

/* A variable that one loop reduces belongs to the gang in the next. */
static void reduced_before(void) {
    enum { rows = 10, columns = 48 };
    int sums[rows], last[rows], wrong = 0;
#pragma acc parallel loop gang copyout(sums, last) vector_length(32)
    for (int i = 0; i < rows; i++) {
        int x = i;
#pragma acc loop vector reduction(+ : x)
        for (int j = 0; j < columns; j++) x += j;
        sums[i] = x;
#pragma acc loop vector
        for (int j = 0; j < columns; j++)
            if (j == 2 * i + 1) x = j;
        last[i] = x;
    }
    for (int i = 0; i < rows; i++) wrong += sums[i] != i + columns * (columns - 1) / 2 || last[i] != 2 * i + 1;
    expect(!wrong, "a loop writes what another one reduced");
}

/* On GPUs a group may have lanes of several gangs, unless its rows of threads are workers. */
static void gangs_that_share_groups(int rows, int columns) {
    int plain[rows][columns], workers[rows][columns], twice[rows][columns], wrong = 0;
#pragma acc parallel loop gang copyout(plain)
    for (int i = 0; i < rows; i++)
#pragma acc loop vector
        for (int j = 0; j < columns; j++) plain[i][j] = i * 1000 + j;
#pragma acc parallel loop gang num_workers(3) vector_length(16) copyout(workers)
    for (int i = 0; i < rows; i++) {
        const int row = i * 1000;
#pragma acc loop worker vector
        for (int j = 0; j < columns; j++) workers[i][j] = row + j;
    }
#pragma acc parallel copyout(twice)
    {
        const int unit = 1000;
#pragma acc loop gang
        for (int i = 0; i < rows; i++) {
            int row = i * unit;
#pragma acc loop vector
            for (int j = 0; j < columns; j++) {
                int sum = 0;
                for (int k = 0; k < j; k++) sum++;
                twice[i][j] = row + sum;
            }
        }
    }
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) {
            const int right = i * 1000 + j;
            wrong += plain[i][j] != right || workers[i][j] != right || twice[i][j] != right;
        }
    expect(!wrong, "groups of several gangs");
}

/* Each gang begins with the section's values, and nobody else sees what it makes of them. */
static void first_private_sections(int gangs, int n) {
    double *c = malloc((n + 3) * sizeof *c), wrong = 0;
    int(*rows)[4] = malloc(n * sizeof *rows), sums[gangs], counts[gangs];
    for (int on_host = 0; on_host < 2; on_host++) {
        for (int i = 0; i < n + 3; i++) c[i] = i;
        for (int i = 0; i < 4 * n; i++) rows[i / 4][i % 4] = i;
#pragma acc parallel num_gangs(gangs) firstprivate(c[3 : n], rows[0 : n]) copyout(sums, counts) if (!on_host)
        {
#pragma acc loop gang
            for (int g = 0; g < gangs; g++) {
                double sum = 0;
#pragma acc loop vector
                for (int i = 3; i < n + 3; i++) c[i] += on_host ? 0 : g;
                for (int i = 3; i < n + 3; i++) sum += c[i];
                sums[g] = sum;
                rows[g % n][2] += 1;
                counts[g] = rows[g % n][2];
            }
        }
        for (int g = 0; g < gangs; g++)
            wrong += sums[g] != n * (n + 5) / 2 + (on_host ? 0 : n * g) || (!on_host && counts[g] != g % n * 4 + 3);
        for (int i = 0; i < n + 3; i++) wrong += c[i] != i;
        for (int i = 0; i < 4 * n; i++) wrong += rows[i / 4][i % 4] != i;
    }
    free(c), free(rows);
    expect(!wrong, "sections in firstprivate");
}

/* What the gang has read before, and one of its threads then writes, all read anew. */
static void read_before_and_after(int n) {
    int seen[3] = {0, 0, 0}, t = 0, by[64];
    for (int i = 0; i < n; i++) by[i] = i + 1;
#pragma acc kernels copyin(by[0 : n])
    {
        t = 5;
        for (int i = 0; i < n; i++) t = t ^ by[i];
        seen[0] = t;
        t = n + 9;
        seen[1] = t;
    }
    int wanted = 5;
    for (int i = 0; i < n; i++) wanted ^= i + 1;
    expect(seen[0] == wanted && seen[1] == n + 9 && t == n + 9, "what all have read before");
}

/* One thread does alone what stands together, between loops that all share. */
static void one_after_another(int n) {
    int a[2][n], b[2][n], wrong = 0;
    for (int on_host = 0; on_host < 2; on_host++) {
        int *const x = a[on_host], *const y = b[on_host];
        for (int i = 0; i < n; i++) x[i] = 0, y[i] = 7 * i % 23;
#pragma acc kernels copy(x[0 : n], y[0 : n]) if (!on_host)
        {
            int s = 3;
            for (int i = 0; i < n; i++) x[i] = y[i] + s;
            x[0] = x[1] + 1;
            x[2] = x[0] * 2;
            for (int i = 3; i < n; i++) x[i] = x[i - 1] ^ x[i];
            for (int i = 0; i < n / 2; i++)
                for (int j = 0; j < 3; j++) x[2 * i % 5 + j] += x[i + j];
            if (x[3] > x[2]) {
                x[4] += x[3];
                x[5] -= x[4];
            }
            for (int i = 0; i < n; i++) y[i] = x[n - 1 - i];
            s = x[7];
            x[s & 15] += s;
            x[s & 7] -= y[3];
            for (int i = 0; i < n; i++) y[i] += x[i];
        }
    }
    for (int i = 0; i < n; i++) wrong += a[0][i] != a[1][i] || b[0][i] != b[1][i];
    expect(!wrong, "one thread does what stands together");
}

/* A device with as many cores as gangs waits for the one with most. */
static void shares_of_gangs(int gangs, int n) {
    int counts[gangs];
    for (int g = 0; g < gangs; g++) counts[g] = 0;
#pragma acc parallel num_gangs(gangs) num_workers(1) vector_length(1) copy(counts)
    {
        int min[1] = {0}; /* a name that OpenCL has for a function */
#pragma acc loop gang
        for (int i = 0; i < n; i++) min[0]++;
#pragma acc loop gang
        for (int g = 0; g < gangs; g++) counts[g] = min[0];
    }
    int all = 0, wrong = 0;
    for (int g = 0; g < gangs; g++) all += counts[g], wrong += counts[g] != n / gangs && counts[g] != n / gangs + 1;
    expect(!wrong && all == n, "gangs share iterations evenly");
}

/* All threads of a gang go the same way, on which they wait for each other or not. */
/* Beside the lanes' loop, what one thread does reads back what it wrote. */
static void works_alone(int n) {
    enum { rows = 12, columns = 32 };
    static int a[rows][columns], b[rows][columns], both[2][2][rows][columns];
    for (int on_host = 0; on_host < 2; on_host++) {
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < columns; j++) a[i][j] = i * 7 + j * 3, b[i][j] = i + j * 5;
#pragma acc parallel loop gang num_gangs(2) vector_length(4) copy(a, b) if (!on_host)
        for (int i = 0; i < rows; i++) {
            int s = i, t = n;
#pragma acc loop vector
            for (int j = 0; j < n; j++) b[i][j] = i;
            a[i][t & 15] = 3;
            b[i][t & 15] += a[i][s & 31];
            t += b[i][t & 31] | b[i][i & 31];
            a[i][1] += s;
            b[i][2] ^= t;
        }
        memcpy(both[on_host][0], a, sizeof a);
        memcpy(both[on_host][1], b, sizeof b);
    }
    expect(!memcmp(both[0], both[1], sizeof both[0]), "one thread works beside lanes");
}

static void waits_in_branches(void) {
    enum { rows = 7, columns = 45 };
    static int a[rows][columns], b[rows][columns], on_device[rows][columns];
    int wrong = 0;
    for (int on_host = 0; on_host < 2; on_host++) {
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < columns; j++)
                a[i][j] = (i * columns + j) * 7 % 101, b[i][j] = (i * columns + j) * 5 % 37;
#pragma acc parallel loop gang num_workers(3) copy(a, b) if (!on_host)
        for (int i = 0; i < rows; i++) {
            int w = 1;
            while (w > 0) {
                if (a[i][i] & 1) {
#pragma acc loop worker
                    for (int j = 0; j < 20; j++) b[i][j] = 3;
#pragma acc loop worker
                    for (int j = 0; j < 20; j++) b[i][j] += 3;
                } else {
                    b[i][1] ^= a[i][3] + i;
                }
                w--;
            }
            b[i][2] ^= 5;
        }
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < columns; j++) {
                if (on_host) wrong += b[i][j] != on_device[i][j];
                on_device[i][j] = b[i][j];
            }
    }
    expect(!wrong, "a branch beside one in which threads wait");
}

int main(void) {
    shares_of_gangs(4, 10);
    shares_of_gangs(7, 90);
    shares_of_gangs(9, 5);
    waits_in_branches();
    if (!getenv("ACC_LAUNCH_AS_GPU")) works_alone(12); /* PoCL 3.1 has it wrong with several threads */
    one_after_another(90);
    pace_of_threads();
    read_before_and_after(64);
    first_private_sections(7, 90);
    gangs_that_share_groups(67, 301);
    gangs_that_share_groups(3, 5);
    jumps_past_writes();
    reduced_before();
    redundant();
    overlapping_of_gangs();
    reduced_by_the_construct(100);
    arrays_of_gangs(64);
    structures_of_gangs();
    if (!failures) printf("gangs: all rules hold\n");
    return failures != 0;
}
