/* SPDX-License-Identifier: Apache-2.0 */
/* The program of the paper's Listing 2, with OpenMP's own allocator beside it. It is C and C++. */
#include <omp.h>

#include <causeway/omp_malloc.h>

#include <string.h>

enum { units = 8, unit_size = 4096 / sizeof(int), size = units * unit_size };

static int is_known(const int* array) { return causeway_node_of_address(array) >= 0; }

/* Usage: listing_2 standard|fine|coarse, the same word as in OMP_DATA_DISTRIBUTION. Of standard memory, which is the
 * system's, no node is known. */
int main(int argc, char** argv) {
    int* arrays[5];
    int* other = (int*)omp_alloc(size * sizeof(int), omp_default_mem_alloc);
    long sum = 0;
    int each, right = argc == 2;
    const int is_standard = right && strcmp(argv[1], "standard") == 0;
    arrays[0] = (int*)omp_malloc(size * sizeof(int));
    arrays[1] = (int*)omp_malloc(size * sizeof(int));
    arrays[2] = (int*)omp_malloc_specific(size * sizeof(int), OMP_MALLOC_COARSE);
    arrays[3] = (int*)omp_malloc_specific(size * sizeof(int), OMP_MALLOC_COARSE);
    arrays[4] = (int*)omp_malloc_specific(size * sizeof(int), OMP_MALLOC_FINE);
    for (each = 0; each < 5; ++each)
        if (!arrays[each]) return 1;
    if (!other) return 1;
    for (each = 0; each < size; ++each) other[each] = each;
#pragma omp parallel
#pragma omp single
    for (each = 0; each < 5; ++each) {
        int* const array = arrays[each];
#pragma omp task firstprivate(array) depend(out : array[0])
        for (int at = 0; at < size; ++at) array[at] = other[at];
#pragma omp task firstprivate(array) depend(in : array[0]) shared(sum)
        for (int at = 0; at < size; ++at)
#pragma omp atomic
            sum += array[at];
    }
    right = right && sum == 5L * size * (size - 1) / 2;
    for (each = 0; each < 5; ++each) right = right && is_known(arrays[each]) == (each > 1 || !is_standard);
    for (each = 0; each < 5; ++each) causeway_free(arrays[each]);
    omp_free(other, omp_default_mem_alloc);
    return right ? 0 : 1;
}
