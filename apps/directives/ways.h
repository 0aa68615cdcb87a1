/* SPDX-License-Identifier: Apache-2.0 */
/* One problem, and the ways in which it is solved: with directives, and by hand in OpenCL. */
#ifndef APPS_DIRECTIVES_WAYS_H
#define APPS_DIRECTIVES_WAYS_H

/* Calls come in the order of the members; run() as often as one likes. */
struct way {
    const char* name;
    void (*prepare)(int devices, int n); /* brings the data to the devices */
    void (*run)(int part);               /* returns when the devices are done */
    void (*fetch)(double* results);      /* brings the results back, and gives everything else up */
};

struct problem {
    const char* name;
    const char* unit;         /* of `work` in a second, in 10^9 */
    int n;                    /* its usual size */
    int most_devices;         /* 0: any number */
    const char* const* parts; /* kernels that are measured on their own; ends with 0 */
    double (*work)(int n, int part);
    long (*result_count)(int n);
    double (*error)(const double* results, int n, int runs); /* the greatest one, of values around 1 */
    const struct way *directives, *opencl, *hybrid; /* of OpenMP and OpenACC; 0: there is none */
    int least_devices;
};

extern const struct problem launch_problem, stream_problem, jacobi_problem, heat_problem, s3d_problem, matmul_problem,
    peer_problem;
extern const struct way launch_directives, stream_directives, jacobi_directives, heat_directives, s3d_directives,
    matmul_directives, peer_directives;
extern const struct way heat_hybrid, matmul_hybrid, s3d_hybrid;
extern const struct way launch_opencl, stream_opencl, jacobi_opencl, heat_opencl, s3d_opencl, matmul_opencl,
    peer_opencl;

/* `count` things over `devices`: the first of device `d`, whose last is the first of `d + 1`. */
static inline int first_of(int d, int devices, int count) { return (int)((long)count * d / devices); }

#endif
