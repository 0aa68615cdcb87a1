/* SPDX-License-Identifier: Apache-2.0 */
/* The paper's workloads, each on its share of the work: for threads, and for several ways of compiling them. */
#ifndef CAUSEWAY_APPS_SIMD_WORKLOADS_H
#define CAUSEWAY_APPS_SIMD_WORKLOADS_H

struct workload {
    const char* name;
    int items; /* that threads share */
    /* Works on the items from `first` to before `last` of what prepare() made. */
    void (*run)(const float* input, float* output, int first, int last);
    int input_size, output_size; /* in numbers */
    double tolerance;            /* for one number, relative to the largest */
};

/* Ends with a workload without name. */
extern const struct workload workloads_scalar[], workloads_vector[];

#endif
