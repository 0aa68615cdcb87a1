/* SPDX-License-Identifier: Apache-2.0 */
/* Of several words that hold all the time, waiting for any and testing for any find each in turn. */
#include <shmem.h>

#include <stdio.h>

enum { words = 5 };

int main(void) {
    shmem_init();
    static int flags[words];
    const int skipped[words] = {0, 0, 1, 0, 0};
    int waited[words] = {0}, tested[words] = {0}, right = 1;
    for (int i = 0; i < words; i++) shmem_int_atomic_set(&flags[i], 1, shmem_my_pe());
    for (int i = 0; i < 2 * words; i++) {
        const size_t found = shmem_int_wait_until_any(flags, words, skipped, SHMEM_CMP_EQ, 1);
        if (found < words) waited[found]++;
    }
    for (int i = 0; i < 2 * words; i++) {
        const size_t found = shmem_int_test_any(flags, words, NULL, SHMEM_CMP_EQ, 1);
        if (found < words) tested[found]++;
    }
    for (int i = 0; i < words; i++) right = right && tested[i] == 2 && (skipped[i] ? waited[i] == 0 : waited[i] >= 2);
    right = right && shmem_int_test_any(flags, words, NULL, SHMEM_CMP_EQ, 2) == SIZE_MAX;
    printf("%s: PE %d\n", right ? "right" : "WRONG", shmem_my_pe());
    shmem_finalize();
    return !right;
}
