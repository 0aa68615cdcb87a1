/* SPDX-License-Identifier: Apache-2.0 */
/* Heat in two dimensions on all devices: Algorithm 10 of the paper, repaired. The exchange belongs into each step, and
 * the kernel names its device. Compared with the host, step for step the same arithmetic. */
#include <openacc.h>
#include <stdio.h>
#include <stdlib.h>

#define I2D(ni, i, j) ((i) + (ni) * (j))

static void step_kernel(int ni, int nj, float tfac, float* temp_in, float* temp_out, int dev) {
    int i00, im10, ip10, i0m1, i0p1, i, j;
    float d2tdx2, d2tdy2;
#pragma acc parallel present(temp_in[0 : ni * nj], temp_out[0 : ni * nj]) num_gangs(32) vector_length(32) deviceid(dev)
    {
#pragma acc loop gang
        for (j = 1; j < nj - 1; j++) {
#pragma acc loop vector
            for (i = 1; i < ni - 1; i++) {
                i00 = I2D(ni, i, j);
                im10 = I2D(ni, i - 1, j);
                ip10 = I2D(ni, i + 1, j);
                i0m1 = I2D(ni, i, j - 1);
                i0p1 = I2D(ni, i, j + 1);
                d2tdx2 = temp_in[im10] - 2 * temp_in[i00] + temp_in[ip10];
                d2tdy2 = temp_in[i0m1] - 2 * temp_in[i00] + temp_in[i0p1];
                temp_out[i00] = temp_in[i00] + tfac * (d2tdx2 + d2tdy2);
            }
        }
    }
}

static void host_step(int ni, int nj, float tfac, const float* in, float* out) {
    for (int j = 1; j < nj - 1; j++)
        for (int i = 1; i < ni - 1; i++) {
            const int at = I2D(ni, i, j);
            out[at] = in[at] +
                      tfac * ((in[at - 1] - 2 * in[at] + in[at + 1]) + (in[at - ni] - 2 * in[at] + in[at + ni]));
        }
}

int main(void) {
    const int num_devices = acc_get_num_devices(acc_device_not_host), nstep = 12, ni = 62;
    const int rows = 10, nj = rows * num_devices, LDA = ni + 2;
    const size_t all = (size_t)LDA * (nj + 2);
    const float tfac = 0.1f;
    float *temp1_h = malloc(all * sizeof(float)), *temp2_h = malloc(all * sizeof(float)), *temp_tmp;
    float *one = malloc(all * sizeof(float)), *two = malloc(all * sizeof(float));
    int d, istep, wrong = 0;
    if (num_devices < 2) return fprintf(stderr, "heat: two devices are needed\n"), 1;
    for (size_t i = 0; i < all; i++) temp1_h[i] = temp2_h[i] = one[i] = two[i] = (float)((i * 37) % 101);
    for (d = 0; d < num_devices; d++) {
#pragma acc enter data copyin(temp1_h[d * rows * LDA : (rows + 2) * LDA]) device(d)
#pragma acc enter data copyin(temp2_h[d * rows * LDA : (rows + 2) * LDA]) deviceid(d)
    }
    for (istep = 0; istep < nstep; istep++) {
        for (d = 0; d < num_devices; d++)
            step_kernel(ni + 2, rows + 2, tfac, temp1_h + d * rows * LDA, temp2_h + d * rows * LDA, d);
        for (d = 0; d < num_devices; d++) {
            if (d > 0) {
#pragma acc update peer to(temp2_h[d * rows * LDA : LDA]) to_device(d) from(temp2_h[d * rows * LDA : LDA])             \
    from_device(d - 1)
            }
            if (d < num_devices - 1) {
#pragma acc update peer to(temp2_h[((d + 1) * rows + 1) * LDA : LDA]) to_device(d)                                     \
    from(temp2_h[((d + 1) * rows + 1) * LDA : LDA]) from_device(d + 1)
            }
        }
        temp_tmp = temp1_h;
        temp1_h = temp2_h;
        temp2_h = temp_tmp;
    }
    for (d = 0; d < num_devices; d++) {
#pragma acc exit data copyout(temp1_h[(d * rows + 1) * LDA : rows * LDA]) deviceid(d)
#pragma acc exit data delete (temp2_h[d * rows * LDA : (rows + 2) * LDA]) deviceid(d)
    }
    for (d = 0; d < num_devices; d++) {
#pragma acc wait device(d)
        acc_set_device_num(d, acc_device_not_host);
        if (acc_is_present(temp1_h + d * rows * LDA, 4) || acc_is_present(temp2_h + d * rows * LDA, 4))
            return fprintf(stderr, "heat: device %d still has something mapped\n", d), 1;
    }
    for (istep = 0; istep < nstep; istep++) {
        host_step(ni + 2, nj + 2, tfac, one, two);
        float* swap = one;
        one = two;
        two = swap;
    }
    for (size_t i = 0; i < all; i++) {
        const float apart = temp1_h[i] - one[i];
        wrong += apart > 1e-3f || apart < -1e-3f;
    }
    if (wrong) return fprintf(stderr, "heat: %d of %zu elements are wrong\n", wrong, all), 1;
    printf("heat: %d steps on %d devices\n", nstep, num_devices);
    return 0;
}
