/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers that other devices reach over a direct link. */
#ifndef CAUSEWAY_BUFFER_H
#define CAUSEWAY_BUFFER_H

#include <causeway/causeway.h>

#include <CL/cl.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A buffer of `size` bytes for commands of `device`, which is one of the context's. Kernels, commands, sub-buffers,
 * retain and release work as with any buffer of clCreateBuffer. If the vendor's other interfaces reach its memory
 * (NVIDIA: CUDA and Vulkan), clEnqueuePeerCopyBuffer and the commands between ranks of one node move it over the link
 * in one step. No copy on the device then waits behind kernels. Elsewhere it is an ordinary buffer, and
 * CAUSEWAY_EXPLAIN=1 says why. The option `window` does not limit it.
 *
 * `flags`: CL_MEM_READ_WRITE, CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY and CL_MEM_HOST_*; no CL_MEM_*_HOST_PTR. The first
 * call of a process may take a second, because it starts those interfaces.
 *
 * In a context of several devices, only commands in queues of `device` may use it; clEnqueuePeerCopyBuffer copies to
 * the others. In another device's queue, NVIDIA's driver 580 refuses kernels (CL_INVALID_KERNEL_ARGS) and a read, write
 * or copy ends the process; this library refuses its transfers with CL_INVALID_OPERATION. If it is an ordinary buffer,
 * every device may use it.
 *
 * If a receive into such a buffer fails because its sender died, or MPI failed, the range is undefined until that
 * sender is gone: its device may still write there.
 *
 * Returns NULL with CL_INVALID_CONTEXT, CL_INVALID_DEVICE, CL_INVALID_VALUE (flags), or what clCreateBuffer returns for
 * the same arguments. errcode_ret may be NULL. Any thread.
 */
CAUSEWAY_EXPORT cl_mem causeway_buffer_create(cl_context context, cl_device_id device, cl_mem_flags flags, size_t size,
                                              cl_int* errcode_ret);

/*
 * Says in `text` (at most `size` bytes, always terminated) what direct links of devices like `device` use: "CUDA 13.0
 * and Vulkan", or "none: " and why. If a transfer did not take the link, "; " and the last reason follow. Starts these
 * interfaces if the process has not, and waits for them up to some seconds. Returns the length of the whole text
 * without its terminator, or -1 if `device` is refused (see causeway_error_last_message). Any thread.
 */
CAUSEWAY_EXPORT long causeway_direct_links(cl_device_id device, char* text, size_t size);

#ifdef __cplusplus
}
#endif

#endif
