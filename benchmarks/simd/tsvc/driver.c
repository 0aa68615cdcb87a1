// SPDX-License-Identifier: Apache-2.0
// Runs every loop of TSVC_2 as compiled in several ways that share their arrays, in a random order each round, and
// compares their checksums. usage: driver SECONDS CHANGED CHANGED_512
// CHANGED: a file with the names of the loops that the plug-in gives other instructions. Fails if a checksum differs.
#define _GNU_SOURCE
#include "common.h"
#include "array_defs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ways = 4, most_rounds = 400, most_loops = 200, passes = 3 };
typedef real_t (*loop_function)(struct args_t*);

struct loop {
    const char* name;
    loop_function run[ways]; // clang, with the plug-in, and both with vectors of 512 bits
    void* argument;
    double best[ways], ratios[ways / 2][most_rounds];
    int rounds, differs;
};
static struct loop loops[most_loops];
static int count;

static void add(const char* name, loop_function plain, loop_function plugged, loop_function plain_512,
                loop_function plugged_512, void* argument, size_t size) {
    (void)size;
    loops[count++] = (struct loop){name, {plain, plugged, plain_512, plugged_512}, argument, {0}, {{0}}, 0, 0};
}
// Of each loop: its functions in the four ways, and ADD(loop, argument, size).
#include "declarations.inc"

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double seconds(const struct args_t* a) {
    return (double)(a->t2.tv_sec - a->t1.tv_sec) + (double)(a->t2.tv_usec - a->t1.tv_usec) * 1e-6;
}

static int by_value(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

/// The words of a file, each between blanks.
static char* words_of(const char* file) {
    enum { room = 100000 };
    char* text = calloc(1, room);
    FILE* f = fopen(file, "r");
    if (!text || !f) {
        perror(file);
        exit(2);
    }
    text[0] = ' ';
    text[1 + fread(text + 1, 1, room - 3, f)] = ' ';
    fclose(f);
    for (char* c = text; *c; ++c)
        if (*c == '\n') *c = ' ';
    return text;
}

static int has_word(const char* text, const char* name) {
    char word[64];
    snprintf(word, sizeof word, " %s ", name);
    return strstr(text, word) != 0;
}

// TSVC_2 leaves the arrays of 21 of its loops, s1113 and s1251 among them, as the function before left them.
static void fill_arrays(void) {
    real_t* const rows[] = {a, b, c, d, e, x};
    real_t* const matrices[] = {aa[0], bb[0], cc[0], tt[0], flat_2d_array};
    for (int r = 0; r < 6; ++r)
        for (int i = 0; i < LEN_1D; ++i) rows[r][i] = (real_t)((7 * i + r) % 16 - 7) / 16;
    for (int m = 0; m < 5; ++m)
        for (int i = 0; i < LEN_2D * LEN_2D; ++i) matrices[m][i] = (real_t)((7 * i + m) % 16 - 7) / 16;
}

static void run_once(struct loop* loop) {
    int order[ways] = {0, 1, 2, 3};
    for (int w = ways - 1; w > 0; --w) {
        const int other = rand() % (w + 1), kept = order[w];
        order[w] = order[other];
        order[other] = kept;
    }
    double time[ways];
    real_t sum[ways];
    for (int o = 0; o < ways; ++o) {
        struct args_t arguments = {.arg_info = loop->argument};
        fill_arrays();
        sum[order[o]] = loop->run[order[o]](&arguments);
        time[order[o]] = seconds(&arguments);
    }
    for (int w = 0; w < ways; ++w) {
        if (loop->rounds == 0 || time[w] < loop->best[w]) loop->best[w] = time[w];
        if (memcmp(&sum[w], &sum[0], sizeof(real_t))) loop->differs = 1;
    }
    for (int wide = 0; wide < ways / 2; ++wide) loop->ratios[wide][loop->rounds] = time[2 * wide] / time[2 * wide + 1];
    ++loop->rounds;
}

static void print(int wide, const char* changed) {
    const char* width = wide ? "512 bits" : "default width";
    double all = 0, ours = 0;
    int timed = 0, of_ours = 0, slow = 0, slow_of_ours = 0;
    printf("-- %s: clang / plug-in, medians of ratios (quartiles), ratio of bests, clang's best in us, rounds\n",
           width);
    for (int k = 0; k < count; ++k) {
        struct loop* loop = &loops[k];
        if (loop->best[2 * wide] < 30e-6) {
            printf("%-8s too short to be timed\n", loop->name);
            continue;
        }
        double* r = loop->ratios[wide];
        const int n = loop->rounds, is_ours = has_word(changed, loop->name);
        qsort(r, (size_t)n, sizeof *r, by_value);
        const double median = r[n / 2];
        ++timed, all += log(median), slow += median < 0.97;
        if (is_ours) ++of_ours, ours += log(median), slow_of_ours += median < 0.97;
        if (is_ours || median < 0.97 || median > 1.03)
            printf("%-8s %-9s %.3f (%.3f to %.3f) %.3f %9.1f %4d\n", loop->name, is_ours ? "changed" : "same code",
                   median, r[n / 4], r[3 * n / 4], loop->best[2 * wide] / loop->best[2 * wide + 1],
                   loop->best[2 * wide] * 1e6, n);
    }
    printf("== %s: geometric mean of %d loops %.4f; of %d changed %.4f; with 1 for the others %.4f; below 0.97: %d, of "
           "which changed: %d\n",
           width, timed, exp(all / timed), of_ours, of_ours ? exp(ours / of_ours) : 1, exp(ours / timed), slow,
           slow_of_ours);
}

int main(int argc, char** argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: driver SECONDS CHANGED CHANGED_512\n");
        return 2;
    }
    const double budget = atof(argv[1]);
    int n1 = 1, n3 = 1;
    int* ip;
    real_t s1, s2;
    init(&ip, &s1, &s2);
    (void)n3;
#define time_function(f, ...) ADD(f, __VA_ARGS__)
#include "loops.inc"
    for (int p = 0; p < passes; ++p)
        for (int k = 0; k < count; ++k) {
            const double end = now() + budget / passes / count;
            for (int i = 0; (i < 3 || now() < end) && loops[k].rounds < most_rounds; ++i) run_once(&loops[k]);
        }
    int wrong = 0;
    for (int k = 0; k < count; ++k)
        if (loops[k].differs) {
            printf("%s: its CHECKSUM DIFFERS\n", loops[k].name);
            ++wrong;
        }
    printf("%d loops, the checksums of %d differ\n", count, wrong);
    for (int wide = 0; wide < ways / 2; ++wide) print(wide, words_of(argv[2 + wide]));
    return wrong != 0;
}
