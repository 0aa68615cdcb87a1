/* SPDX-License-Identifier: Apache-2.0 */
#include "opencl.h"
#include "s3d.h"
#include "ways.h"

static const char source[] =
    "#define ARGUMENTS global const double *restrict temperature, global const double *restrict fraction, \\\n"
    "    constant double *polynomial, global double *restrict out, int n\n"
    "kernel void mix_capacity(ARGUMENTS) {\n"
    "    int m = get_global_id(0);\n"
    "    if (m >= n) return;\n"
    "    double t = temperature[m], sum = 0;\n"
    "    constant double *p = polynomial + (t > 1000.0 ? 22 * 7 : 0);\n"
    "    for (int s = 0; s < 22; s++, p += 7)\n"
    "        sum += fraction[s * n + m] * (p[0] + t * (p[1] + t * (p[2] + t * (p[3] + t * p[4]))));\n"
    "    out[m] = sum;\n"
    "}\n"
    "kernel void mix_enthalpy(ARGUMENTS) {\n"
    "    int m = get_global_id(0);\n"
    "    if (m >= n) return;\n"
    "    double t = temperature[m], sum = 0;\n"
    "    constant double *p = polynomial + (t > 1000.0 ? 22 * 7 : 0);\n"
    "    for (int s = 0; s < 22; s++, p += 7)\n"
    "        sum += fraction[s * n + m] *\n"
    "               (p[5] + t * (p[0] + t * (p[1] / 2 + t * (p[2] / 3 + t * (p[3] / 4 + t * p[4] / 5)))));\n"
    "    out[m] = sum;\n"
    "}\n";

static struct opencl_device device[MOST_DEVICES];
static cl_kernel mix[2][MOST_DEVICES];
static cl_mem temperature[MOST_DEVICES], fraction[MOST_DEVICES], polynomial[MOST_DEVICES], out[2][MOST_DEVICES];
static int n, devices;

static void prepare(int count, int points) {
    n = points, devices = count;
    double coefficients[2][SPECIES][7], *const values = malloc((size_t)n * SPECIES * sizeof *values);
    for (int range = 0; range < 2; range++)
        for (int s = 0; s < SPECIES; s++)
            for (int power = 0; power < 7; power++) coefficients[range][s][power] = coefficient(range, s, power);
    for (int d = 0; d < devices; d++) {
        const int first = first_of(d, devices, n), own = first_of(d + 1, devices, n) - first;
        device[d] = open_device(d, source);
        for (int m = 0; m < own; m++) values[m] = temperature_at(first + m);
        temperature[d] = buffer_of(&device[d], own * sizeof(double), values);
        for (int s = 0; s < SPECIES; s++)
            for (int m = 0; m < own; m++) values[(long)s * own + m] = fraction_at(s, first + m);
        fraction[d] = buffer_of(&device[d], (size_t)own * SPECIES * sizeof(double), values);
        polynomial[d] = buffer_of(&device[d], sizeof coefficients, coefficients);
        for (int which = 0; which < 2; which++) {
            out[which][d] = buffer_of(&device[d], own * sizeof(double), 0);
            mix[which][d] = kernel_of(&device[d], which ? "mix_enthalpy" : "mix_capacity");
            set_buffers(mix[which][d], 4, (const cl_mem[]){temperature[d], fraction[d], polynomial[d], out[which][d]});
            set_int(mix[which][d], 4, own);
        }
    }
    free(values);
}

static void run(int part) {
    for (int d = 0; d < devices; d++) {
        for (int which = 0; which < 2; which++)
            run_kernel(&device[d], mix[which][d], first_of(d + 1, devices, n) - first_of(d, devices, n), 1,
                       (const size_t[]){128, 1});
        clFlush(device[d].queue);
    }
    for (int d = 0; d < devices; d++) check(clFinish(device[d].queue), "clFinish");
}

static void fetch(double* results) {
    for (int d = 0; d < devices; d++) {
        const int first = first_of(d, devices, n), own = first_of(d + 1, devices, n) - first;
        for (int which = 0; which < 2; which++) {
            read_back(&device[d], out[which][d], 0, own * sizeof(double), results + (long)which * n + first);
            clReleaseMemObject(out[which][d]);
            clReleaseKernel(mix[which][d]);
        }
        clReleaseMemObject(temperature[d]), clReleaseMemObject(fraction[d]), clReleaseMemObject(polynomial[d]);
        close_device(&device[d]);
    }
}

const struct way s3d_opencl = {"OpenCL", prepare, run, fetch};
