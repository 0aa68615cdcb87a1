/* SPDX-License-Identifier: Apache-2.0 */
/* Extensions have this name in every implementation. Another one's, of an MPI beside this, would not fit. */
#ifndef CAUSEWAY_SHMEMX_H
#define CAUSEWAY_SHMEMX_H
#error "Causeway's OpenSHMEM has no extensions: shmem.h has OpenSHMEM 1.5, shmemg.h device memory"
#endif
