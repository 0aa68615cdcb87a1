// SPDX-License-Identifier: Apache-2.0
// Times the same kernels as compiled in several ways, in a random order each round, and compares their results.
// usage: compare ROUNDS NAME=LIBRARY NAME=LIBRARY...
// Prints each way's best time per item in nanoseconds, then for each group of kernels the geometric means of the times
// beside those of the last way: of the best ones, and of the medians of the rounds' ratios. Fails if a result differs.
#define _GNU_SOURCE
#include "problem.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { most_ways = 12, most_groups = 16, most_rounds = 1000, room = 1 << 20, compared = room - 4096 };

static char* arrays[4];

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double time_calls(const struct kernel* kernel, long calls) {
    const double start = now();
    for (long i = 0; i < calls; ++i) kernel->run(arrays[0], arrays[1], arrays[2], arrays[3], kernel->n);
    return (now() - start) / (double)calls;
}

// With small whole numbers, so that no order of sums rounds; of the type that the kernel's name has.
static void fill(const char* name) {
    const int is_double = strstr(name, "double") != 0, is_int = strstr(name, "int ") != 0;
    for (int a = 0; a < 4; ++a)
        for (int i = 0; i < compared / (is_double ? 8 : 4); ++i) {
            const int number = (i * 7 + a) % 5 + 1;
            if (is_double)
                ((double*)arrays[a])[i] = number;
            else if (is_int)
                ((int*)arrays[a])[i] = number;
            else
                ((float*)arrays[a])[i] = (float)number;
        }
}

static int by_value(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static double median(double* values, int count) {
    qsort(values, (size_t)count, sizeof *values, by_value);
    return values[count / 2];
}

static void shuffle(int* order, int count) {
    for (int i = count - 1; i > 0; --i) {
        const int other = rand() % (i + 1), kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
}

static int count_differing(const struct kernel** tables, int ways, int k, char** names) {
    static char expected[2][compared];
    int differing = 0;
    for (int w = ways - 1; w >= 0; --w) {
        fill(tables[0][k].name);
        tables[w][k].run(arrays[0], arrays[1], arrays[2], arrays[3], tables[w][k].n);
        for (int a = 0; a < 2; ++a)
            if (w == ways - 1) {
                memcpy(expected[a], arrays[a], compared);
            } else if (memcmp(expected[a], arrays[a], compared) != 0) {
                printf("%s: the results of %s and %s DIFFER\n", tables[0][k].name, names[w], names[ways - 1]);
                ++differing;
            }
    }
    return differing;
}

int main(int argc, char** argv) {
    const int ways = argc - 2, rounds = argc > 1 ? atoi(argv[1]) : 0;
    const struct kernel* tables[most_ways];
    char** names = argv + 2;
    if (ways < 1 || ways > most_ways || rounds < 1 || rounds > most_rounds) {
        fprintf(stderr, "usage: compare ROUNDS NAME=LIBRARY... (up to %d rounds, %d libraries)\n", most_rounds,
                most_ways);
        return 2;
    }
    printf("%-28s", "ns");
    for (int w = 0; w < ways; ++w) {
        char* library = strchr(names[w], '=');
        if (!library) return 2;
        *library++ = 0;
        void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
        if (!handle || !(tables[w] = dlsym(handle, "kernels"))) {
            fprintf(stderr, "%s\n", dlerror());
            return 2;
        }
        printf(" %12s", names[w]);
    }
    printf("\n");
    // Each at another place of its page: equal ones would hinder each other in the cache.
    for (int i = 0; i < 4; ++i) arrays[i] = (char*)aligned_alloc(4096, room) + 256 * i;
    const char* groups[most_groups];
    double bests[most_groups][most_ways] = {{0}}, medians[most_groups][most_ways] = {{0}};
    int members[most_groups] = {0}, found = 0, differing = 0;
    for (int k = 0; tables[0][k].name; ++k) {
        differing += count_differing(tables, ways, k, names);
        fill("float"); // normal numbers as int and double, too
        static double times[most_ways][most_rounds];
        const long calls = (long)(50e3 / (time_calls(&tables[0][k], 200) + 1)) + 1;
        for (int w = 0; w < ways; ++w) time_calls(&tables[w][k], calls);
        int order[most_ways];
        for (int w = 0; w < ways; ++w) order[w] = w;
        for (int r = 0; r < rounds; ++r) {
            shuffle(order, ways);
            for (int o = 0; o < ways; ++o)
                times[order[o]][r] = time_calls(&tables[order[o]][k], calls) / tables[order[o]][k].items;
        }
        int g = 0;
        while (g < found && strcmp(groups[g], tables[0][k].group)) ++g;
        if (g == found) groups[found++] = tables[0][k].group;
        ++members[g];
        printf("%-28s", tables[0][k].name);
        for (int w = 0; w < ways; ++w) {
            double ratios[most_rounds], best = INFINITY, last_best = INFINITY;
            for (int r = 0; r < rounds; ++r) {
                best = fmin(best, times[w][r]);
                last_best = fmin(last_best, times[ways - 1][r]);
                ratios[r] = times[w][r] / times[ways - 1][r];
            }
            bests[g][w] += log(best / last_best);
            medians[g][w] += log(median(ratios, rounds));
            printf(" %12.2f", best);
        }
        printf("\n");
        fflush(stdout);
    }
    for (int g = 0; g < found; ++g) {
        printf("%-28s", groups[g]);
        for (int w = 0; w < ways; ++w) printf(" %11.2fx", exp(bests[g][w] / members[g]));
        printf("   best times of %d, beside %s\n%-28s", members[g], names[ways - 1], "");
        for (int w = 0; w < ways; ++w) printf(" %11.2fx", exp(medians[g][w] / members[g]));
        printf("   medians of %d rounds' ratios\n", rounds);
    }
    return differing != 0;
}
