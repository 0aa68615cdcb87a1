/* SPDX-License-Identifier: Apache-2.0 */
/* One-sided device memory: a heap of the same size on every rank, and commands that put, get and signal there. */
#ifndef CAUSEWAY_SYMMETRIC_H
#define CAUSEWAY_SYMMETRIC_H

/*
 * A processing element (PE) is a rank of one communicator with one device, fixed by causeway_symmetric_init. All PEs
 * allocate alike, so an address of one heap names the same object in every other heap. Commands take the local address
 * and the number of the PE.
 *
 * A command has a queue, a wait list and an event like any OpenCL command. The other PE's program takes no part.
 * The event of a put is complete when its bytes are in the other heap. What the commands promise about the order in
 * which others see their effects is in docs/memory-model.md.
 *
 * Where all PEs are on one node and the memory of their devices is host memory, each PE reads and writes the other
 * heaps itself. Host code can then load and store at an address. Between GPUs of a node with a direct link, the
 * initiator's GPU copies. Elsewhere the engine of the other PE serves the command by messages, whose bytes travel as
 * those of clEnqueueSendBuffer do. Host code that touches an address in a device's own memory ends the program, with a
 * message that says so.
 *
 * Functions return OpenCL's codes, or NULL, and leave a text for causeway_error_last_message(). Any thread may call.
 * Sizes and offsets are in bytes. "Collective": all PEs call it, and make their collective calls in the same order.
 *
 * A PE is dead if its process ended without causeway_symmetric_finalize or MPI_Finalize. Commands to it, waits for
 * words and collective calls then fail with CL_TRANSFER_PEER_FAILED and name it. docs/one-sided.md says when that is
 * found. Commands to the PEs that are left still work.
 *
 * The heap ends with MPI: once this PE has called MPI_Finalize, calls that are not about addresses alone are refused
 * with CL_INVALID_OPERATION, but for causeway_symmetric_finalize and causeway_symmetric_give_up. A wait list with
 * events of another context is refused with CL_INVALID_CONTEXT. If an event of the list fails, the command does not
 * begin, and ends with CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST.
 */

#include <CL/cl_data_transfer.h>
#include <causeway/causeway.h>

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Command types, answered for CL_TRANSFER_COMMAND_TYPE. */
#define CL_COMMAND_PUT 0x0CA50010
#define CL_COMMAND_GET 0x0CA50011
#define CL_COMMAND_PUT_SIGNAL 0x0CA50012
#define CL_COMMAND_SIGNAL 0x0CA50013
#define CL_COMMAND_SIGNAL_WAIT 0x0CA50014
#define CL_COMMAND_SYMMETRIC_ATOMIC 0x0CA50015
#define CL_COMMAND_FENCE 0x0CA50016
#define CL_COMMAND_QUIET 0x0CA50017
#define CL_COMMAND_SYMMETRIC_BARRIER 0x0CA50018
#define CL_COMMAND_WORD_WAIT 0x0CA50019
#define CL_COMMAND_SYMMETRIC_BROADCAST 0x0CA5001A
#define CL_COMMAND_SYMMETRIC_COLLECT 0x0CA5001B
#define CL_COMMAND_SYMMETRIC_ALL_TO_ALL 0x0CA5001C
#define CL_COMMAND_SYMMETRIC_REDUCE 0x0CA5001D

/* What a signal does to its word. */
typedef cl_uint cl_signal_operation;
#define CL_SIGNAL_SET 0
#define CL_SIGNAL_ADD 1

/* How a wait compares its word with the value: as unsigned numbers, or, with CL_COMPARE_SIGNED added, as signed. */
typedef cl_uint cl_comparison;
#define CL_COMPARE_EQ 0
#define CL_COMPARE_NE 1
#define CL_COMPARE_GT 2
#define CL_COMPARE_GE 3
#define CL_COMPARE_LT 4
#define CL_COMPARE_LE 5
#define CL_COMPARE_SIGNED 0x100

typedef cl_uint cl_atomic_operation;
#define CL_ATOMIC_FETCH 0
#define CL_ATOMIC_SET 1
#define CL_ATOMIC_ADD 2
#define CL_ATOMIC_INC 3
#define CL_ATOMIC_COMPARE_SWAP 4
#define CL_ATOMIC_SWAP 5
#define CL_ATOMIC_AND 6
#define CL_ATOMIC_OR 7
#define CL_ATOMIC_XOR 8

/* How a reduction combines the elements of all PEs; the last three are for integers only. */
typedef cl_uint cl_reduction;
#define CL_REDUCE_SUM 0
#define CL_REDUCE_PROD 1
#define CL_REDUCE_MIN 2
#define CL_REDUCE_MAX 3
#define CL_REDUCE_AND 4
#define CL_REDUCE_OR 5
#define CL_REDUCE_XOR 6

/* Elements by the names of OpenCL C. */
typedef cl_uint cl_element_type;
#define CL_ELEMENT_CHAR 0
#define CL_ELEMENT_UCHAR 1
#define CL_ELEMENT_SHORT 2
#define CL_ELEMENT_USHORT 3
#define CL_ELEMENT_INT 4
#define CL_ELEMENT_UINT 5
#define CL_ELEMENT_LONG 6
#define CL_ELEMENT_ULONG 7
#define CL_ELEMENT_FLOAT 8
#define CL_ELEMENT_DOUBLE 9

/*
 * Makes this rank of `comm` a PE with `device`, one of the context's, and gives it a heap of `heap_bytes` in that
 * device's memory. Collective over `comm`, which is duplicated; MPI needs MPI_THREAD_MULTIPLE. Refused on every PE if
 * one refuses. CL_INVALID_OPERATION: this process is a PE already; or the heap lies in memory that a link between
 * devices reaches, and the context has more devices. CL_INVALID_VALUE: a size of 0, or other sizes on other PEs.
 * CL_INVALID_BUFFER_SIZE: a size above the driver's largest buffer. Also CL_INVALID_CONTEXT, CL_INVALID_DEVICE and
 * CL_OUT_OF_HOST_MEMORY. PEs are watched from its end on: if a rank dies within it, the others may stay in MPI.
 */
CAUSEWAY_EXPORT cl_int causeway_symmetric_init(cl_context context, cl_device_id device, MPI_Comm comm,
                                               size_t heap_bytes);

/*
 * Waits for the one-sided commands of all PEs, and gives the heap back. Collective. Its addresses and buffer are then
 * invalid. If another PE calls something else or is gone, or MPI has ended, the call fails, but still gives the heap
 * back. Commands that wait for this PE, and one-sided commands to it that begin later, then fail with
 * CL_TRANSFER_PEER_FAILED.
 */
CAUSEWAY_EXPORT cl_int causeway_symmetric_finalize(void);

/*
 * Gives the heap back at once, because this PE's program has failed. Not collective, and waits for nobody. The waits
 * and collective calls of the other PEs then fail with CL_TRANSFER_PEER_FAILED. So does their
 * causeway_symmetric_finalize, unless this PE called its own before. All PEs may call causeway_symmetric_init again.
 */
CAUSEWAY_EXPORT cl_int causeway_symmetric_give_up(void);

/* This PE's number, and how many there are; -1 while there is no heap. */
CAUSEWAY_EXPORT int causeway_symmetric_pe(void);
CAUSEWAY_EXPORT int causeway_symmetric_pes(void);

/*
 * Allocates memory of the heap, aligned to 64 bytes or to `alignment`, a power of two up to 4096. Collective, with the
 * same arguments everywhere; when it returns, all PEs have the memory. Its bytes are undefined; calloc's are 0. NULL if
 * the heap has no room, and for 0 bytes. Commands that reach beyond the bytes asked for are refused.
 */
CAUSEWAY_EXPORT void* causeway_symmetric_malloc(size_t bytes);
CAUSEWAY_EXPORT void* causeway_symmetric_calloc(size_t count, size_t bytes);
CAUSEWAY_EXPORT void* causeway_symmetric_align(size_t alignment, size_t bytes);
/* Collective. Waits for the one-sided commands of all PEs. NULL is allowed. */
CAUSEWAY_EXPORT cl_int causeway_symmetric_free(void* address);

/*
 * Returns the heap's buffer, for kernels and for ordinary commands and transfers of this PE's context. `*offset` gets
 * the position of `address` there, which may be in the middle of an allocation. The buffer is not retained for the
 * caller. NULL for an address that is not allocated; errcode_ret may be NULL.
 */
CAUSEWAY_EXPORT cl_mem causeway_symmetric_buffer(const void* address, size_t* offset, cl_int* errcode_ret);
/*
 * The pointer at which this process can load and store what `address` names in the heap of PE `pe`. NULL if it cannot:
 * in a device's own memory, or on another node.
 */
CAUSEWAY_EXPORT void* causeway_symmetric_pointer(const void* address, int pe);
/* The inverse of causeway_symmetric_buffer, also for a sub-buffer of the heap's buffer. NULL for any other buffer, or
 * an offset beyond its end. */
CAUSEWAY_EXPORT void* causeway_symmetric_address(cl_mem buffer, size_t offset);

/*
 * Puts `size` bytes of `buffer` from `offset` to `target` of PE `pe`. `buffer` may be the heap's. If `pe` is this PE, a
 * target that overlaps the source is refused with CL_MEM_COPY_OVERLAP, unless both are the same. The same holds for
 * gets and boxes. A size of 0 moves nothing; the addresses must be of the heap even so.
 */
CAUSEWAY_EXPORT cl_int clEnqueuePut(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size,
                                    void* target, int pe, cl_uint num_events_in_wait_list,
                                    const cl_event* event_wait_list, cl_event* event);

/* Gets `size` bytes from `source` of PE `pe` into `buffer` at `offset`. */
CAUSEWAY_EXPORT cl_int clEnqueueGet(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size,
                                    const void* source, int pe, cl_uint num_events_in_wait_list,
                                    const cl_event* event_wait_list, cl_event* event);

/*
 * A put, then `operation` with `value` on the word `signal` of the same PE. Whoever sees the changed word sees the
 * bytes too. If the put fails, the word stays as it is. With a size of 0 it is a signal, and `target` may be NULL.
 */
CAUSEWAY_EXPORT cl_int clEnqueuePutSignal(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                                          size_t size, void* target, uint64_t* signal, uint64_t value,
                                          cl_signal_operation operation, int pe, cl_uint num_events_in_wait_list,
                                          const cl_event* event_wait_list, cl_event* event);

/* `operation` with `value` on the word `signal` of PE `pe`, without a put. */
CAUSEWAY_EXPORT cl_int clEnqueueSignal(cl_command_queue queue, cl_bool blocking, uint64_t* signal, uint64_t value,
                                       cl_signal_operation operation, int pe, cl_uint num_events_in_wait_list,
                                       const cl_event* event_wait_list, cl_event* event);

/*
 * Completes when `comparison` of the word `signal` of this PE's heap with `value` is true. Every later command sees the
 * bytes of the put that signalled. Fails with CL_TRANSFER_PEER_FAILED if a PE dies, or all others leave, before that.
 */
CAUSEWAY_EXPORT cl_int clEnqueueSignalWait(cl_command_queue queue, cl_bool blocking, const uint64_t* signal,
                                           cl_comparison comparison, uint64_t value, cl_uint num_events_in_wait_list,
                                           const cl_event* event_wait_list, cl_event* event);

/* The same for any word of 4 or 8 bytes of this PE's heap, which a put, a signal or an atomic changes. A value that a
 * word of 4 bytes cannot have is refused; with CL_COMPARE_SIGNED a negative one may be sign-extended to 64 bits. */
CAUSEWAY_EXPORT cl_int clEnqueueWordWait(cl_command_queue queue, cl_bool blocking, const void* word, size_t word_bytes,
                                         cl_comparison comparison, uint64_t value, cl_uint num_events_in_wait_list,
                                         const cl_event* event_wait_list, cl_event* event);

/* Puts and gets of boxes, with origins and pitches as in clEnqueueWriteBufferRect; `target` or `source` is the address
 * from which the other box's origin counts. A region without elements is refused. */
CAUSEWAY_EXPORT cl_int clEnqueuePutRect(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                        const size_t buffer_origin[3], const size_t target_origin[3],
                                        const size_t region[3], size_t buffer_row_pitch, size_t buffer_slice_pitch,
                                        size_t target_row_pitch, size_t target_slice_pitch, void* target, int pe,
                                        cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                                        cl_event* event);
CAUSEWAY_EXPORT cl_int clEnqueueGetRect(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                        const size_t buffer_origin[3], const size_t source_origin[3],
                                        const size_t region[3], size_t buffer_row_pitch, size_t buffer_slice_pitch,
                                        size_t source_row_pitch, size_t source_slice_pitch, const void* source, int pe,
                                        cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                                        cl_event* event);

/* Puts and gets of `count` elements of `element_bytes` each, both above 0. Strides are in bytes, from the start of one
 * element to the start of the next: at least `element_bytes`, or 0 for elements that lie side by side. */
CAUSEWAY_EXPORT cl_int clEnqueuePutStrided(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                                           size_t buffer_stride, void* target, size_t target_stride,
                                           size_t element_bytes, size_t count, int pe, cl_uint num_events_in_wait_list,
                                           const cl_event* event_wait_list, cl_event* event);
CAUSEWAY_EXPORT cl_int clEnqueueGetStrided(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                                           size_t buffer_stride, const void* source, size_t source_stride,
                                           size_t element_bytes, size_t count, int pe, cl_uint num_events_in_wait_list,
                                           const cl_event* event_wait_list, cl_event* event);

/*
 * An atomic operation on a word of 4 or 8 bytes of PE `pe`. CL_ATOMIC_COMPARE_SWAP stores `operand` if the word is
 * `compared`; CL_ATOMIC_FETCH and CL_ATOMIC_INC ignore `operand`. For a word of 4 bytes the low half of `operand`
 * counts, and `compared` has to fit it; a negative number may have its sign in all 64 bits. The word's former value is
 * written to `result` at `result_offset`, unless `result` is NULL. Atomic with respect to each other and to signals on
 * every PE; not to kernels, nor to the host's own accesses.
 */
CAUSEWAY_EXPORT cl_int clEnqueueSymmetricAtomic(cl_command_queue queue, cl_bool blocking, cl_atomic_operation operation,
                                                size_t word_bytes, void* word, uint64_t operand, uint64_t compared,
                                                int pe, cl_mem result, size_t result_offset,
                                                cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                                                cl_event* event);

/*
 * A fence: this PE's puts, gets, signals and atomics enqueued before it, in any queue, have taken effect before those
 * enqueued after it begin. A quiet is a fence that also reports failures: it fails with the first failure of such a
 * command or blocking call since the last quiet.
 */
CAUSEWAY_EXPORT cl_int clEnqueueFence(cl_command_queue queue, cl_uint num_events_in_wait_list,
                                      const cl_event* event_wait_list, cl_event* event);
CAUSEWAY_EXPORT cl_int clEnqueueQuiet(cl_command_queue queue, cl_bool blocking, cl_uint num_events_in_wait_list,
                                      const cl_event* event_wait_list, cl_event* event);
/* Collective. A fence that is complete when all PEs have come to theirs. */
CAUSEWAY_EXPORT cl_int clEnqueueSymmetricBarrier(cl_command_queue queue, cl_bool blocking,
                                                 cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                                                 cl_event* event);

/*
 * Collective, with the same addresses and sizes everywhere. They begin as a barrier does; when the event is complete,
 * `target` has the result and `source` may be changed. If PEs give different ones, the command moves nothing, and fails
 * on all of them with CL_INVALID_VALUE. What a PE refuses by itself, as a freed address, fails there at once, and on
 * the others with CL_TRANSFER_PEER_FAILED and that PE's reason. Ranges that overlap are refused with
 * CL_MEM_COPY_OVERLAP, except one range for both in a broadcast or a reduction. If PEs come to different calls, these
 * fail with CL_INVALID_OPERATION; where one call meets more often than the other, so do all collectives behind them.
 *
 * Broadcast: `size` bytes of PE `root`. Collect: `size` bytes of each PE, one behind the other. All to all: PE i's part
 * j of `size` bytes becomes PE j's part i.
 */
CAUSEWAY_EXPORT cl_int clEnqueueSymmetricBroadcast(cl_command_queue queue, cl_bool blocking, void* target,
                                                   const void* source, size_t size, int root,
                                                   cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                                                   cl_event* event);
CAUSEWAY_EXPORT cl_int clEnqueueSymmetricCollect(cl_command_queue queue, cl_bool blocking, void* target,
                                                 const void* source, size_t size, cl_uint num_events_in_wait_list,
                                                 const cl_event* event_wait_list, cl_event* event);
CAUSEWAY_EXPORT cl_int clEnqueueSymmetricAllToAll(cl_command_queue queue, cl_bool blocking, void* target,
                                                  const void* source, size_t size, cl_uint num_events_in_wait_list,
                                                  const cl_event* event_wait_list, cl_event* event);
/*
 * Element i of `target` becomes the result of `operation` over element i of each PE's `source`, for `count` elements.
 * The device combines them in the order of the PEs, so all have the same result, also for floating-point numbers.
 * Integers wrap around. The command fails on all PEs if the device of one cannot compute with that type.
 */
CAUSEWAY_EXPORT cl_int clEnqueueSymmetricReduce(cl_command_queue queue, cl_bool blocking, void* target,
                                                const void* source, size_t count, cl_element_type type,
                                                cl_reduction operation, cl_uint num_events_in_wait_list,
                                                const cl_event* event_wait_list, cl_event* event);

/*
 * The same operations from host code, without a queue; they return when they are complete. The host's side is ordinary
 * memory, or this PE's own heap, where source and target may overlap. Such a put or get is ordered with
 * commands that are complete, and by fences, quiets and collectives; not by any queue.
 */
CAUSEWAY_EXPORT cl_int causeway_symmetric_put(void* target, const void* source, size_t size, int pe);
CAUSEWAY_EXPORT cl_int causeway_symmetric_get(void* target, const void* source, size_t size, int pe);
CAUSEWAY_EXPORT cl_int causeway_symmetric_put_signal(void* target, const void* source, size_t size, uint64_t* signal,
                                                     uint64_t value, cl_signal_operation operation, int pe);
CAUSEWAY_EXPORT cl_int causeway_symmetric_signal(uint64_t* signal, uint64_t value, cl_signal_operation operation,
                                                 int pe);
CAUSEWAY_EXPORT cl_int causeway_symmetric_wait(const void* word, size_t word_bytes, cl_comparison comparison,
                                               uint64_t value);
/* `before` gets the word's former value, and may be NULL. */
CAUSEWAY_EXPORT cl_int causeway_symmetric_atomic(cl_atomic_operation operation, size_t word_bytes, void* word,
                                                 uint64_t operand, uint64_t compared, int pe, uint64_t* before);
CAUSEWAY_EXPORT cl_int causeway_symmetric_quiet(void);
CAUSEWAY_EXPORT cl_int causeway_symmetric_barrier(void);

#ifdef __cplusplus
}
#endif

#endif
