/* SPDX-License-Identifier: Apache-2.0 */
/* Transfers between device memory and files, MPI ranks, hosts and other devices, as OpenCL commands. */
#ifndef CL_DATA_TRANSFER_H
#define CL_DATA_TRANSFER_H

/*
 * The file, send and receive forms, clCreateEventFromMPIRequest and MPI_CL_MEM are those of a paper (section 4,
 * Algorithms 2 and 3, Listings 3 to 5): Takizawa et al., "Optimized Data Transfers Based on the OpenCL Event Management
 * Mechanism", Scientific Programming 2015. The rest is Causeway's own.
 *
 * Every function here may be called from any thread, also from an event callback if `blocking` is CL_FALSE.
 * Offsets and sizes are in bytes. A refused call returns OpenCL's own code, has no effect, and leaves a text for
 * causeway_error_last_message(). A failure after the call returned is the status of the event.
 *
 * `#define CL_DATA_TRANSFER_NO_MPI` before the include leaves out everything that needs <mpi.h>.
 */

#ifdef __APPLE__
#include <OpenCL/opencl.h>
#else
#include <CL/cl.h>
#endif
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define CAUSEWAY_API __attribute__((visibility("default")))
#else
#define CAUSEWAY_API
#endif

/* Status codes of a transfer's event (Causeway's own range). */
#define CL_TRANSFER_END_OF_FILE (-31001)       /* the file ended before `size` bytes; see CL_TRANSFER_BYTES_MOVED */
#define CL_TRANSFER_IO_ERROR (-31002)          /* reading or writing failed; CL_TRANSFER_ERRNO says why */
#define CL_TRANSFER_MESSAGE_TRUNCATED (-31003) /* the message was larger than the receive */
#define CL_TRANSFER_PEER_FAILED (-31004)       /* the other rank died, gave up or left MPI; or MPI failed */
#define CL_TRANSFER_CANCELLED (-31005)         /* clCancelTransfer */

/* Command types, answered for CL_TRANSFER_COMMAND_TYPE. */
#define CL_COMMAND_WRITE_BUFFER_FROM_FILE 0x0CA50001
#define CL_COMMAND_READ_BUFFER_TO_FILE 0x0CA50002
#define CL_COMMAND_SEND_BUFFER 0x0CA50003
#define CL_COMMAND_RECV_BUFFER 0x0CA50004
#define CL_COMMAND_SENDRECV_BUFFER 0x0CA50005
#define CL_COMMAND_PEER_COPY_BUFFER 0x0CA50006

typedef cl_uint cl_transfer_info;

/* What clGetTransferInfo answers. */
#define CL_TRANSFER_STATUS 0x0CA50100          /* cl_int: CL_QUEUED, _SUBMITTED, _RUNNING, _COMPLETE or an error */
#define CL_TRANSFER_COMMAND_TYPE 0x0CA50101    /* cl_command_type */
#define CL_TRANSFER_COMMAND_QUEUE 0x0CA50102   /* cl_command_queue, not retained for the caller */
#define CL_TRANSFER_CONTEXT 0x0CA50103         /* cl_context, not retained for the caller */
#define CL_TRANSFER_BYTES_MOVED 0x0CA50104     /* size_t: so far; the sum of both ways for a send-receive */
#define CL_TRANSFER_BYTES_SENT 0x0CA50105      /* size_t */
#define CL_TRANSFER_BYTES_RECEIVED 0x0CA50106  /* size_t */
#define CL_TRANSFER_MPI_SOURCE 0x0CA50107      /* int: what MPI_ANY_SOURCE matched */
#define CL_TRANSFER_MPI_TAG 0x0CA50108         /* int: what MPI_ANY_TAG matched */
#define CL_TRANSFER_ERRNO 0x0CA50109           /* int: 0, or the errno behind a failure */
#define CL_TRANSFER_MPI_ERROR_CLASS 0x0CA5010A /* int: MPI_SUCCESS, or the class behind a failure */
#define CL_TRANSFER_ERROR_MESSAGE 0x0CA5010B   /* char[]: empty, or what failed, where and why */
#define CL_TRANSFER_STRATEGY 0x0CA5010C        /* char[]: "mapped", "pinned", "pipelined", ...; empty until planned */
#define CL_TRANSFER_BLOCK_SIZE 0x0CA5010D      /* size_t: bytes of a block */
#define CL_TRANSFER_DEPTH 0x0CA5010E           /* cl_uint: blocks in flight */
#define CL_TRANSFER_LANES 0x0CA5010F           /* cl_uint: I/O threads that read or write at once */
#define CL_TRANSFER_TIME_QUEUED 0x0CA50110     /* cl_ulong: host monotonic clock, nanoseconds; 0 while not reached */
#define CL_TRANSFER_TIME_SUBMITTED 0x0CA50111
#define CL_TRANSFER_TIME_STARTED 0x0CA50112
#define CL_TRANSFER_TIME_ENDED 0x0CA50113

/*
 * Reads `size` bytes from the position of `file` into `buffer` at `offset`, and leaves the position where fread would.
 * Commands on one FILE take effect in the order of enqueue. Until the event completes, `file` must stay open, and the
 * program must not use it. Pipes and sockets work.
 * Refused: as clEnqueueWriteBuffer; CL_INVALID_VALUE for a null file or one that is not open for reading.
 * Fails with CL_TRANSFER_END_OF_FILE, CL_TRANSFER_IO_ERROR, CL_TRANSFER_CANCELLED or a code of OpenCL.
 */
CAUSEWAY_API cl_int clEnqueueWriteBufferFromStdioFile(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                                      size_t offset, size_t size, FILE* file,
                                                      cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                                                      cl_event* event);

/* Writes `size` bytes of `buffer` from `offset` to the position of `file` (its end in append mode), as fwrite would. */
CAUSEWAY_API cl_int clEnqueueReadBufferToStdioFile(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                                   size_t offset, size_t size, FILE* file,
                                                   cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                                                   cl_event* event);

/*
 * Reads from `file_offset` of the descriptor `fd` without touching its position. The descriptor is duplicated: it may
 * be closed right after the call. Refused with CL_INVALID_VALUE: negative offset, a descriptor that is closed, cannot
 * seek, or is not open for reading.
 */
CAUSEWAY_API cl_int clEnqueueWriteBufferFromFile(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                                                 size_t size, int fd, int64_t file_offset,
                                                 cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                                                 cl_event* event);

/* A `file_offset` for clEnqueueReadBufferToFile: the end of the file at the time of the write. (-1, which lseek and
 * ftell return when they fail, is refused.) */
#define CL_TRANSFER_APPEND ((int64_t)-0x0CA50001)

/*
 * Writes `size` bytes of `buffer` from `offset` to `file_offset` of the descriptor `fd`, or with CL_TRANSFER_APPEND to
 * the end of its file. `fd` may be in append mode or not. `fd` is duplicated, as above. Transfers that append to one
 * file do not mix their bytes, but bytes of another program may come between their blocks. Refused with
 * CL_INVALID_VALUE: as above, and a descriptor that is not open for writing.
 */
CAUSEWAY_API cl_int clEnqueueReadBufferToFile(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                                              size_t size, int fd, int64_t file_offset, cl_uint num_events_in_wait_list,
                                              const cl_event* event_wait_list, cl_event* event);

/*
 * Copies `size` bytes between buffers of any two devices, contexts or vendors. Comes after the earlier commands of both
 * queues (where in-order) and holds back the later ones of both. Wait-list events may be of either context; the event
 * belongs to the target's. CL_MEM_COPY_OVERLAP if the two ranges overlap in one buffer.
 */
CAUSEWAY_API cl_int clEnqueuePeerCopyBuffer(cl_command_queue source_queue, cl_mem source, cl_command_queue target_queue,
                                            cl_mem target, cl_bool blocking, size_t source_offset, size_t target_offset,
                                            size_t size, cl_uint num_events_in_wait_list,
                                            const cl_event* event_wait_list, cl_event* event);

/* Answers `param_name` about a transfer, as clGetEventInfo does about an event, until the event's last release.
 * CL_INVALID_EVENT for an event that is no transfer's; CL_INVALID_VALUE for an unknown name or too small a size. */
CAUSEWAY_API cl_int clGetTransferInfo(cl_event event, cl_transfer_info param_name, size_t param_value_size,
                                      void* param_value, size_t* param_value_size_ret);

/*
 * Asks a transfer to stop: at once if it has not started, else after the blocks in flight. Its event then fails with
 * CL_TRANSFER_CANCELLED, unless it had finished before. CL_INVALID_EVENT for an event that is no transfer's;
 * CL_INVALID_OPERATION for a transfer that is complete.
 */
CAUSEWAY_API cl_int clCancelTransfer(cl_event event);

/*
 * Calls `callback` once when the transfer is over, or soon if it is over already; `status` is CL_COMPLETE or why it
 * failed. This works with every driver, while clSetEventCallback may not report failures. Callbacks of all transfers
 * run one after the other in one thread of the library, and may call anything, blocking calls included. On Causeway's
 * platform over several ranks they run on every rank, as those of clSetEventCallback do. The event lives at least until
 * its callback returns. At exit, callbacks that are due are called before exit() goes on. CL_INVALID_EVENT for an event
 * that is no transfer's; CL_INVALID_VALUE for a null callback; CL_INVALID_OPERATION while the process ends.
 */
CAUSEWAY_API cl_int clSetTransferCallback(cl_event event,
                                          void(CL_CALLBACK* callback)(cl_event event, cl_int status, void* user_data),
                                          void* user_data);

#ifdef __cplusplus
}
#endif

#ifndef CL_DATA_TRANSFER_NO_MPI
#include <CL/cl_data_transfer_mpi.h>
#endif

#endif
