/* SPDX-License-Identifier: Apache-2.0 */
/* OpenSHMEM's auxiliary specification for GPUs: a symmetric heap in device memory, for calls of the host. */
#ifndef CAUSEWAY_SHMEMG_H
#define CAUSEWAY_SHMEMG_H

#include "shmem.h"

/* Bits for shmem_init_thread() beside the level of threads. The second one, calls within kernels, is never provided. */
#define SHMEM_DEVICE_HOST_INIT 0x100
#define SHMEM_DEVICE_KERNEL_INIT 0x200

#define SHMEM_DEVICE_TEAM_WORLD SHMEM_TEAM_WORLD

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Collective. Memory of SHMEM_DEVICE_SYMMETRIC_SIZE bytes (64M unless set) of the PE's OpenCL device. Every call of
 * shmem.h takes its addresses. causeway_symmetric_buffer() has the cl_mem behind an address, for kernels. Where the
 * device's memory is not the host's, shmem_ptr() is NULL, and touching an address ends the program with a message.
 */
void* shmemg_malloc(size_t size);
void* shmemg_calloc(size_t count, size_t size);
void* shmemg_align(size_t alignment, size_t size);
void shmemg_free(void* address);

#ifdef __cplusplus
}
#endif

#endif
