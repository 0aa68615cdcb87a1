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
 * A buffer of `size` bytes for commands of `device`, one of the context's, like one of clCreateBuffer: kernels,
 * commands, sub-buffers, clRetainMemObject and clReleaseMemObject do with it what they do with any. Where the vendor's
 * other interfaces reach its memory (NVIDIA: CUDA and Vulkan), clEnqueuePeerCopyBuffer and the commands between ranks
 * of one node move it between devices in one step, over the link and without a copy on the device that would wait
 * behind kernels. Else it is an ordinary buffer, and CAUSEWAY_EXPLAIN=1 says why. The option `window` does not limit
 * it.
 *
 * flags: CL_MEM_READ_WRITE, CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY and CL_MEM_HOST_*; no CL_MEM_*_HOST_PTR. The first call
 * of a process may take a second: it starts those interfaces.
 *
 * In a context of several devices, only commands in queues of `device` may use it; clEnqueuePeerCopyBuffer copies to
 * the others. In another device's queue NVIDIA's driver 580 refuses kernels (CL_INVALID_KERNEL_ARGS), and a read, write
 * or copy ends the process; transfers of this library are refused with CL_INVALID_OPERATION. Where it is an ordinary
 * buffer every device may use it.
 *
 * A receive into such a buffer that failed because its sender died, or because MPI failed, leaves the range undefined
 * until that sender is gone: its device may still write there.
 *
 * Returns NULL with CL_INVALID_CONTEXT, CL_INVALID_DEVICE, CL_INVALID_VALUE (flags), or what clCreateBuffer returns for
 * the same arguments. errcode_ret may be NULL. Any thread.
 */
CAUSEWAY_EXPORT cl_mem causeway_buffer_create(cl_context context, cl_device_id device, cl_mem_flags flags, size_t size,
                                              cl_int* errcode_ret);

/*
 * Starts what direct links of devices like `device` take, if the process has not started it, waits up to some seconds,
 * and writes what there is into `text` (at most `size` bytes, always terminated): "CUDA 13.0 and Vulkan", or "none: "
 * and why; behind the former, "; " and the last reason why a transfer of the process did not take it, if there was one.
 * Returns the length of the whole text without its terminator, or -1 (see causeway_error_last_message). Any thread.
 */
CAUSEWAY_EXPORT long causeway_direct_links(cl_device_id device, char* text, size_t size);

#ifdef __cplusplus
}
#endif

#endif
