// SPDX-License-Identifier: Apache-2.0
// Times the same kernels as compiled in several ways, in turns, and prints each one's best time per item in
// nanoseconds. usage: compare NAME=LIBRARY NAME=LIBRARY... (the last one is compared with the others)
#define _GNU_SOURCE
#include "problem.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { most_ways = 12, most_groups = 16, rounds = 25, room = 1 << 20 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double time_calls(const struct kernel* kernel, char** arrays, long calls) {
    const double start = now();
    for (long i = 0; i < calls; ++i) kernel->run(arrays[0], arrays[1], arrays[2], arrays[3], kernel->n);
    return (now() - start) / (double)calls;
}

int main(int argc, char** argv) {
    const int ways = argc - 1;
    const struct kernel* tables[most_ways];
    if (ways < 1 || ways > most_ways) {
        fprintf(stderr, "usage: compare NAME=LIBRARY... (up to %d)\n", most_ways);
        return 2;
    }
    printf("%-28s", "ns");
    for (int w = 0; w < ways; ++w) {
        char* library = strchr(argv[w + 1], '=');
        if (!library) return 2;
        *library++ = 0;
        void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
        if (!handle || !(tables[w] = dlsym(handle, "kernels"))) {
            fprintf(stderr, "%s\n", dlerror());
            return 2;
        }
        printf(" %12s", argv[w + 1]);
    }
    printf("\n");
    char* arrays[4];
    for (int i = 0; i < 4; ++i) {
        // Each at another place of its page: equal ones would hinder each other in the cache.
        arrays[i] = (char*)aligned_alloc(4096, room) + 256 * i;
        for (int k = 0; k < (room - 1024) / 4; ++k) // small integers that are normal floats, too
            ((int*)arrays[i])[k] = 0x3f800000;
    }
    const char* groups[most_groups];
    double logs[most_groups][most_ways] = {{0}};
    int members[most_groups] = {0}, found = 0;
    for (int k = 0; tables[0][k].name; ++k) {
        double best[most_ways];
        const long calls = (long)(100e3 / (time_calls(&tables[0][k], arrays, 200) + 1)) + 1;
        for (int w = 0; w < ways; ++w) best[w] = INFINITY;
        for (int r = 0; r < rounds; ++r)
            for (int w = 0; w < ways; ++w)
                best[w] = fmin(best[w], time_calls(&tables[w][k], arrays, calls) / tables[w][k].items);
        int g = 0;
        while (g < found && strcmp(groups[g], tables[0][k].group)) ++g;
        if (g == found) groups[found++] = tables[0][k].group;
        ++members[g];
        printf("%-28s", tables[0][k].name);
        for (int w = 0; w < ways; ++w) {
            logs[g][w] += log(best[w]);
            printf(" %12.2f", best[w]);
        }
        printf("\n");
        fflush(stdout);
    }
    for (int g = 0; g < found; ++g) {
        printf("%-28s", groups[g]);
        for (int w = 0; w < ways; ++w) printf(" %11.2fx", exp((logs[g][w] - logs[g][ways - 1]) / members[g]));
        printf("   geometric means of %d, beside %s\n", members[g], argv[ways]);
    }
    return 0;
}
