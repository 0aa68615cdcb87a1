/* SPDX-License-Identifier: Apache-2.0 */
/* Every implementation has its extensions in a header of this name. This one keeps the compiler from finding that of
 * another implementation, such as an MPI's. */
#ifndef CAUSEWAY_SHMEMX_H
#define CAUSEWAY_SHMEMX_H
#error "Causeway's OpenSHMEM has no extensions: shmem.h has OpenSHMEM 1.5, shmemg.h device memory"
#endif
