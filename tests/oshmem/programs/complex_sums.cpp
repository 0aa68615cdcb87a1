// SPDX-License-Identifier: Apache-2.0
// From C++: sums and products of complex numbers, on a team and on an active set.
#include <shmem.h>

#include <cstdio>

static causeway_shmem_complexd sums[2], numbers[2];
static causeway_shmem_complexf products[1], factors[1];

int main() {
    shmem_init();
    const int own = shmem_my_pe(), all = shmem_n_pes();
    __real__ numbers[0] = own;
    __imag__ numbers[0] = 1;
    __real__ numbers[1] = 2;
    __imag__ numbers[1] = -own;
    __real__ factors[0] = 0;
    __imag__ factors[0] = 1;
    shmem_barrier_all();
    shmem_complexd_sum_reduce(SHMEM_TEAM_WORLD, sums, numbers, 2);
    shmem_complexf_prod_to_all(products, factors, 1, 0, 0, all, nullptr, nullptr);

    const double numbered = all * (all - 1) / 2.0;
    const int turns = all % 4; // of i
    const float expected[4][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
    const bool right = __real__ sums[0] == numbered && __imag__ sums[0] == all && __real__ sums[1] == 2 * all &&
                       __imag__ sums[1] == -numbered && __real__ products[0] == expected[turns][0] &&
                       __imag__ products[0] == expected[turns][1];
    std::printf("%s: PE %d\n", right ? "right" : "WRONG", own);
    shmem_finalize();
    return right ? 0 : 1;
}
