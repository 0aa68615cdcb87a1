/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix multiplication on all devices: Algorithm 9 of the paper on OpenACC for several devices, with `d` where it
 * prints `id`, its missing brace, and the waits in a loop of their own, so that the devices work at the same time. */
#include <openacc.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    const int n = argc > 1 ? atoi(argv[1]) : 96;
    const int num_devices = acc_get_num_devices(acc_device_not_host);
    float *A = malloc(sizeof(float) * n * n), *B = malloc(sizeof(float) * n * n),
          *C = calloc((size_t)n * n, sizeof(float));
    int i, j, k, d, blocks, start, end, wrong = 0;
    if (num_devices < 2) {
        fprintf(stderr, "matmul: two devices are needed, and there are %d\n", num_devices);
        return 1;
    }
    for (i = 0; i < n * n; i++) {
        A[i] = (float)(i % 7);
        B[i] = (float)(i % 5);
    }
    for (d = 0; d < num_devices; d++) {
        blocks = n / num_devices;
        start = d * blocks;
        end = d == num_devices - 1 ? n : (d + 1) * blocks;
        blocks = end - start;
#pragma acc data copyin(A[start * n : blocks * n]) copyin(B[0 : n * n]) copyout(C[start * n : blocks * n]) deviceid(d)
        {
#pragma acc parallel deviceid(d) num_gangs(32) vector_length(32)
            {
#pragma acc loop gang
                for (i = start; i < end; i++) {
#pragma acc loop vector
                    for (j = 0; j < n; j++) {
                        float c = 0.0f;
                        for (k = 0; k < n; k++) {
                            c += A[i * n + k] * B[k * n + j];
                            C[i * n + j] = c;
                        }
                    }
                }
            }
        }
    }
    for (d = 0; d < num_devices; d++) {
#pragma acc wait device(d)
    }
    for (i = 0; i < n; i++)
        for (j = 0; j < n; j++) {
            float c = 0.0f;
            for (k = 0; k < n; k++) c += A[i * n + k] * B[k * n + j];
            wrong += C[i * n + j] != c;
        }
    if (wrong)
        fprintf(stderr, "matmul: %d of %d elements are wrong\n", wrong, n * n);
    else
        printf("matmul: %d x %d on %d devices\n", n, n, num_devices);
    free(A);
    free(B);
    free(C);
    return wrong != 0;
}
