/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a problem in each of its ways, in turn, checks the results and prints medians. */
#define _POSIX_C_SOURCE 200809L
#include "ways.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct problem* const problems[] = {&launch_problem, &stream_problem, &jacobi_problem, &heat_problem,
                                                 &s3d_problem,    &matmul_problem, &peer_problem};
enum { problem_count = sizeof problems / sizeof *problems, most_parts = 5 };

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + 1e-9 * now.tv_nsec;
}

static int compare(const void* one, const void* other) {
    const double a = *(const double*)one, b = *(const double*)other;
    return (a > b) - (a < b);
}

static double quantile(double* values, int count, double share) {
    qsort(values, count, sizeof *values, compare);
    return values[(int)(share * (count - 1) + 0.5)];
}

/* Returns how many ways had wrong results. */
static int solve(const struct problem* problem, int devices, int n, int repeats) {
    const struct way* const ways[] = {problem->directives, problem->opencl, problem->hybrid};
    const int count = problem->hybrid ? 3 : 2;
    double* const times = malloc(count * most_parts * repeats * sizeof *times);
    int parts = 0, wrong = 0;
    while (problem->parts[parts]) parts++;
    for (int way = 0; way < count; way++) ways[way]->prepare(devices, n);
    for (int repeat = -1; repeat < repeats; repeat++) /* the first one compiles, and is not counted */
        for (int turn = 0; turn < count; turn++) {
            const int way = (turn + repeat + count) % count;
            for (int part = 0; part < parts; part++) {
                const double before = seconds();
                ways[way]->run(part);
                if (repeat >= 0) times[(way * most_parts + part) * repeats + repeat] = seconds() - before;
            }
        }
    for (int way = 0; way < count; way++) {
        double* const results = malloc(problem->result_count(n) * sizeof *results);
        ways[way]->fetch(results);
        const double error = problem->error(results, n, repeats + 1);
        if (!(error < 1e-9)) {
            fprintf(stderr, "%s by %s: results are off by %g\n", problem->name, ways[way]->name, error);
            wrong++;
        }
        free(results);
    }
    for (int part = 0; part < parts; part++) {
        double median[3];
        for (int way = 0; way < count; way++) {
            double* const own = times + (way * most_parts + part) * repeats;
            median[way] = quantile(own, repeats, 0.5);
            printf("%-7s %-9s n %-9d devices %d  %-10s %10.3f ms (%.3f to %.3f)  %8.2f G%s/s\n", problem->name,
                   problem->parts[part], n, devices, ways[way]->name, 1e3 * median[way],
                   1e3 * quantile(own, repeats, 0.25), 1e3 * quantile(own, repeats, 0.75),
                   problem->work(n, part) / median[way], strcmp(problem->unit, "GB") ? problem->unit : "B");
        }
        printf("%-7s %-9s n %-9d devices %d  directives reach %.1f %% of OpenCL%s\n", problem->name,
               problem->parts[part], n, devices, 100 * median[1] / median[0], wrong ? ", WRONG" : ", verified");
    }
    fflush(stdout);
    free(times);
    return wrong;
}

int main(int argc, char** argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: %s launch|stream|jacobi|heat|s3d|matmul|peer|all [DEVICES [N [REPEATS]]]\n", argv[0]);
        return 2;
    }
    const int devices = argc > 2 ? atoi(argv[2]) : 1, n = argc > 3 ? atoi(argv[3]) : 0;
    const int repeats = argc > 4 ? atoi(argv[4]) : 9;
    int wrong = 0, found = 0;
    for (int each = 0; each < problem_count; each++) {
        const struct problem* const problem = problems[each];
        if (strcmp(argv[1], "all") && strcmp(argv[1], problem->name)) continue;
        found = 1;
        if (devices < problem->least_devices || (problem->most_devices && devices > problem->most_devices)) {
            const int few = devices < problem->least_devices;
            if (strcmp(argv[1], "all"))
                fprintf(stderr, "%s: takes at %s %d devices, not %d\n", problem->name, few ? "least" : "most",
                        few ? problem->least_devices : problem->most_devices, devices);
            continue;
        }
        wrong += solve(problem, devices, n > 0 ? n : problem->n, repeats > 0 ? repeats : 1);
    }
    if (!found) fprintf(stderr, "%s: no problem '%s'\n", argv[0], argv[1]);
    return wrong || !found;
}
