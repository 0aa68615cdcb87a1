/* SPDX-License-Identifier: Apache-2.0 */
/* OpenSHMEM's auxiliary specification for GPUs: a symmetric heap in device memory, for calls of the host. */
#ifndef CAUSEWAY_SHMEMG_H
#define CAUSEWAY_SHMEMG_H

#include "shmem.h"

/* Bits for shmem_init_thread(), added to the thread level. The second, for calls within kernels, is never provided. */
#define SHMEM_DEVICE_HOST_INIT 0x100
#define SHMEM_DEVICE_KERNEL_INIT 0x200

#define SHMEM_DEVICE_TEAM_WORLD SHMEM_TEAM_WORLD

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Collective. `size` bytes of a heap in the memory of the PE's OpenCL device; NULL if it has no room. The heap has
 * SHMEM_DEVICE_SYMMETRIC_SIZE bytes (64M unless set). Every call of shmem.h takes its addresses.
 * causeway_symmetric_buffer() returns the cl_mem of an address, for kernels. Where the device's memory is not the
 * host's, shmem_ptr() returns NULL, and a load or store at an address ends the program with a message.
 */
void* shmemg_malloc(size_t size);
void* shmemg_calloc(size_t count, size_t size);
void* shmemg_align(size_t alignment, size_t size);
void shmemg_free(void* address);

#ifdef __cplusplus
}
#endif

#endif
