/* SPDX-License-Identifier: Apache-2.0 */
/* The directives of opencl_handles_host.c. */
void add_indices(int* values, int n) {
#pragma acc parallel loop present(values) async(1)
    for (int i = 0; i < n; i++) values[i] += i;
}
void add_indices_again(int* values, int n) {
#pragma acc parallel loop present(values) async(2) wait(1)
    for (int i = 0; i < n; i++) values[i] += i;
}
