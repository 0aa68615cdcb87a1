/* SPDX-License-Identifier: Apache-2.0 */
/* Allocation with a distribution, for OpenMP programs. Include it beside <omp.h>; it defines no name of that header.
 *
 *     double *a = omp_malloc(bytes);                                where OMP_DATA_DISTRIBUTION says
 *     double *b = omp_malloc_specific(bytes, OMP_MALLOC_COARSE);    where the program says
 *
 * Release both by causeway_free(): omp_free() is OpenMP's own, for memory of its allocators. */
#ifndef CAUSEWAY_OMP_MALLOC_H
#define CAUSEWAY_OMP_MALLOC_H

#include <causeway/tasks.h>

enum {
    OMP_MALLOC_STANDARD = CAUSEWAY_DISTRIBUTION_STANDARD,
    OMP_MALLOC_FINE = CAUSEWAY_DISTRIBUTION_FINE,
    OMP_MALLOC_COARSE = CAUSEWAY_DISTRIBUTION_COARSE
};

static inline void* omp_malloc(size_t bytes) { return causeway_malloc(bytes, CAUSEWAY_DISTRIBUTION_DEFAULT); }

static inline void* omp_malloc_specific(size_t bytes, int distribution) {
    return causeway_malloc(bytes, (causeway_distribution)distribution);
}

#endif
