/* SPDX-License-Identifier: Apache-2.0 */
/* Extensions of the OpenCL platform Causeway. Each function here finds the platform's own at run time, from the device
 * or queue that it is given, so a program links with the ordinary loader alone. Any thread. See docs/platform.md. */
#ifndef CL_CLUSTER_H
#define CL_CLUSTER_H

#include <CL/cl.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CL_COMMAND_BROADCAST_BUFFER 0x0CA50101
#define CL_COMMAND_SCATTER_BUFFER 0x0CA50102
#define CL_COMMAND_GATHER_BUFFER 0x0CA50103
#define CL_COMMAND_ALL_GATHER_BUFFER 0x0CA50104
#define CL_COMMAND_ALL_TO_ALL_BUFFER 0x0CA50105
#define CL_COMMAND_REDUCE_BUFFER 0x0CA50106
#define CL_COMMAND_ALL_REDUCE_BUFFER 0x0CA50107
#define CL_COMMAND_REDUCE_SCATTER_BUFFER 0x0CA50108
#define CL_COMMAND_SCAN_BUFFER 0x0CA50109

/* A type of elements, beside OpenCL's channel types. */
#define CL_DOUBLE 0x0CA50180

/* What a reduction does with two elements. */
typedef cl_uint cl_reduction_op;
#define CL_REDUCTION_SUM 0
#define CL_REDUCTION_PRODUCT 1
#define CL_REDUCTION_MIN 2
#define CL_REDUCTION_MAX 3
#define CL_REDUCTION_AND 4 /* bitwise, integers only, as the next two */
#define CL_REDUCTION_OR 5
#define CL_REDUCTION_XOR 6
#define CL_REDUCTION_KERNEL 7 /* a kernel of the program's own */

typedef cl_int(CL_API_CALL* clAttachBufferToDevice_fn)(cl_mem buffer, cl_device_id device);
typedef cl_int(CL_API_CALL* clEnqueueBroadcastBuffer_fn)(cl_command_queue*, cl_mem, cl_uint, cl_mem*, size_t, size_t*,
                                                         size_t, cl_uint, const cl_event*, cl_event*);
typedef clEnqueueBroadcastBuffer_fn clEnqueueScatterBuffer_fn;
typedef cl_int(CL_API_CALL* clEnqueueGatherBuffer_fn)(cl_command_queue, cl_uint, cl_mem*, cl_mem, size_t*, size_t,
                                                      size_t, cl_uint, const cl_event*, cl_event*);
typedef cl_int(CL_API_CALL* clEnqueueAllGatherBuffer_fn)(cl_command_queue*, cl_uint, cl_mem*, cl_mem*, size_t*, size_t*,
                                                         size_t, cl_uint, const cl_event*, cl_event*);
typedef clEnqueueAllGatherBuffer_fn clEnqueueAlltoAllBuffer_fn;
typedef cl_int(CL_API_CALL* clEnqueueReduceBuffer_fn)(cl_command_queue, cl_uint, cl_mem*, cl_mem, size_t*, size_t,
                                                      size_t, cl_channel_type, cl_uint, const cl_event*, cl_event*);
typedef cl_int(CL_API_CALL* clEnqueueAllReduceBuffer_fn)(cl_command_queue*, cl_uint, cl_mem*, cl_mem*, size_t*, size_t*,
                                                         size_t, cl_channel_type, cl_uint, const cl_event*, cl_event*);
typedef clEnqueueAllReduceBuffer_fn clEnqueueReduceScatterBuffer_fn;
typedef clEnqueueAllReduceBuffer_fn clEnqueueScanBuffer_fn;
typedef cl_int(CL_API_CALL* clEnqueueReduceBufferWithOp_fn)(cl_command_queue, cl_uint, cl_mem*, cl_mem, size_t*, size_t,
                                                            size_t, cl_channel_type, cl_reduction_op, cl_kernel,
                                                            cl_uint, const cl_event*, cl_event*);
typedef cl_int(CL_API_CALL* clEnqueueAllReduceBufferWithOp_fn)(cl_command_queue*, cl_uint, cl_mem*, cl_mem*, size_t*,
                                                               size_t*, size_t, cl_channel_type, cl_reduction_op,
                                                               cl_kernel, cl_uint, const cl_event*, cl_event*);
typedef clEnqueueAllReduceBufferWithOp_fn clEnqueueReduceScatterBufferWithOp_fn;
typedef clEnqueueAllReduceBufferWithOp_fn clEnqueueScanBufferWithOp_fn;

/* The function `name` of the platform that `device` belongs to; null if that platform does not have it. */
static inline void* causeway_cluster_function(cl_device_id device, const char* name) {
    cl_platform_id platform = NULL;
    if (clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL) != CL_SUCCESS) return NULL;
    return clGetExtensionFunctionAddressForPlatform(platform, name);
}
static inline void* causeway_cluster_function_of_queue(cl_command_queue queue, const char* name) {
    cl_device_id device = NULL;
    if (clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof device, &device, NULL) != CL_SUCCESS) return NULL;
    return causeway_cluster_function(device, name);
}

/* From now on `device` always has the latest contents of `buffer`. A rank then skips a command of another rank's
 * device if it has no wait list and all its buffers are attached to other ranks' devices. Commands for devices other
 * than `device` stay correct: they move the contents there and back. CL_INVALID_MEM_OBJECT, CL_INVALID_DEVICE;
 * CL_INVALID_OPERATION on another platform. */
static inline cl_int clAttachBufferToDevice(cl_mem buffer, cl_device_id device) {
    const clAttachBufferToDevice_fn call = (clAttachBufferToDevice_fn)causeway_cluster_function(
        device, "clAttachBufferToDevice");
    return call == NULL ? CL_INVALID_OPERATION : call(buffer, device);
}

/*
 * Collective commands, with the arguments of SnuCL's. Sizes and offsets are in bytes; `cb` is the size of one piece,
 * for each destination or of each source. A null list of offsets means zeros. In a list of queues, queue i is that of
 * destination i, and event_list[i] becomes the event of its part. If contents move between drivers or ranks, a
 * collective runs after all earlier commands on its buffers. Otherwise it runs after the earlier commands of its
 * queues. Sums are made pairwise, always in the same order. The element type `datatype` is CL_SIGNED_INT8, _INT16,
 * _INT32, CL_UNSIGNED_INT8, _INT16, _INT32, CL_HALF_FLOAT, CL_FLOAT or CL_DOUBLE.
 *
 * They return OpenCL's codes: CL_INVALID_VALUE also for no sources or destinations, no bytes, ranges beyond a buffer,
 * an unknown type or a size that is no multiple of an element; CL_INVALID_OPERATION on another platform.
 */
/* Copies `cb` bytes of `src` to every destination. */
static inline cl_int clEnqueueBroadcastBuffer(cl_command_queue* queues, cl_mem src, cl_uint num_dst, cl_mem* dst,
                                              size_t src_offset, size_t* dst_offset, size_t cb,
                                              cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                                              cl_event* event_list) {
    const clEnqueueBroadcastBuffer_fn call = (clEnqueueBroadcastBuffer_fn)causeway_cluster_function_of_queue(
        queues == NULL ? NULL : queues[0], "clEnqueueBroadcastBuffer");
    return call == NULL ? CL_INVALID_OPERATION
                        : call(queues, src, num_dst, dst, src_offset, dst_offset, cb, num_events_in_wait_list,
                               event_wait_list, event_list);
}
/* Copies piece i of `src` to destination i. */
static inline cl_int clEnqueueScatterBuffer(cl_command_queue* queues, cl_mem src, cl_uint num_dst, cl_mem* dst,
                                            size_t src_offset, size_t* dst_offset, size_t cb,
                                            cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                                            cl_event* event_list) {
    const clEnqueueScatterBuffer_fn call = (clEnqueueScatterBuffer_fn)causeway_cluster_function_of_queue(
        queues == NULL ? NULL : queues[0], "clEnqueueScatterBuffer");
    return call == NULL ? CL_INVALID_OPERATION
                        : call(queues, src, num_dst, dst, src_offset, dst_offset, cb, num_events_in_wait_list,
                               event_wait_list, event_list);
}
/* Source i becomes piece i of `dst`. */
static inline cl_int clEnqueueGatherBuffer(cl_command_queue queue, cl_uint num_src, cl_mem* src, cl_mem dst,
                                           size_t* src_offset, size_t dst_offset, size_t cb,
                                           cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                                           cl_event* event) {
    const clEnqueueGatherBuffer_fn call = (clEnqueueGatherBuffer_fn)causeway_cluster_function_of_queue(
        queue, "clEnqueueGatherBuffer");
    return call == NULL ? CL_INVALID_OPERATION
                        : call(queue, num_src, src, dst, src_offset, dst_offset, cb, num_events_in_wait_list,
                               event_wait_list, event);
}
/* Gathers the sources into every destination. */
static inline cl_int clEnqueueAllGatherBuffer(cl_command_queue* queues, cl_uint num, cl_mem* src, cl_mem* dst,
                                              size_t* src_offset, size_t* dst_offset, size_t cb,
                                              cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                                              cl_event* event_list) {
    const clEnqueueAllGatherBuffer_fn call = (clEnqueueAllGatherBuffer_fn)causeway_cluster_function_of_queue(
        queues == NULL ? NULL : queues[0], "clEnqueueAllGatherBuffer");
    return call == NULL ? CL_INVALID_OPERATION
                        : call(queues, num, src, dst, src_offset, dst_offset, cb, num_events_in_wait_list,
                               event_wait_list, event_list);
}
/* Piece j of source i becomes piece i of destination j. */
static inline cl_int clEnqueueAlltoAllBuffer(cl_command_queue* queues, cl_uint num, cl_mem* src, cl_mem* dst,
                                             size_t* src_offset, size_t* dst_offset, size_t cb,
                                             cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                                             cl_event* event_list) {
    const clEnqueueAlltoAllBuffer_fn call = (clEnqueueAlltoAllBuffer_fn)causeway_cluster_function_of_queue(
        queues == NULL ? NULL : queues[0], "clEnqueueAlltoAllBuffer");
    return call == NULL ? CL_INVALID_OPERATION
                        : call(queues, num, src, dst, src_offset, dst_offset, cb, num_events_in_wait_list,
                               event_wait_list, event_list);
}
/* Adds the sources, element by element. */
static inline cl_int clEnqueueReduceBuffer(cl_command_queue queue, cl_uint num_src, cl_mem* src, cl_mem dst,
                                           size_t* src_offset, size_t dst_offset, size_t cb, cl_channel_type datatype,
                                           cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                                           cl_event* event) {
    const clEnqueueReduceBuffer_fn call = (clEnqueueReduceBuffer_fn)causeway_cluster_function_of_queue(
        queue, "clEnqueueReduceBuffer");
    return call == NULL ? CL_INVALID_OPERATION
                        : call(queue, num_src, src, dst, src_offset, dst_offset, cb, datatype, num_events_in_wait_list,
                               event_wait_list, event);
}
/* Every destination gets the sum. */
static inline cl_int clEnqueueAllReduceBuffer(cl_command_queue* queues, cl_uint num, cl_mem* src, cl_mem* dst,
                                              size_t* src_offset, size_t* dst_offset, size_t cb,
                                              cl_channel_type datatype, cl_uint num_events_in_wait_list,
                                              const cl_event* event_wait_list, cl_event* event_list) {
    const clEnqueueAllReduceBuffer_fn call = (clEnqueueAllReduceBuffer_fn)causeway_cluster_function_of_queue(
        queues == NULL ? NULL : queues[0], "clEnqueueAllReduceBuffer");
    return call == NULL ? CL_INVALID_OPERATION
                        : call(queues, num, src, dst, src_offset, dst_offset, cb, datatype, num_events_in_wait_list,
                               event_wait_list, event_list);
}
/* Destination i gets the sum of piece i of every source. */
static inline cl_int clEnqueueReduceScatterBuffer(cl_command_queue* queues, cl_uint num, cl_mem* src, cl_mem* dst,
                                                  size_t* src_offset, size_t* dst_offset, size_t cb,
                                                  cl_channel_type datatype, cl_uint num_events_in_wait_list,
                                                  const cl_event* event_wait_list, cl_event* event_list) {
    const clEnqueueReduceScatterBuffer_fn call = (clEnqueueReduceScatterBuffer_fn)causeway_cluster_function_of_queue(
        queues == NULL ? NULL : queues[0], "clEnqueueReduceScatterBuffer");
    return call == NULL ? CL_INVALID_OPERATION
                        : call(queues, num, src, dst, src_offset, dst_offset, cb, datatype, num_events_in_wait_list,
                               event_wait_list, event_list);
}
/* Destination i gets the sum of sources 0 to i. */
static inline cl_int clEnqueueScanBuffer(cl_command_queue* queues, cl_uint num, cl_mem* src, cl_mem* dst,
                                         size_t* src_offset, size_t* dst_offset, size_t cb, cl_channel_type datatype,
                                         cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                                         cl_event* event_list) {
    const clEnqueueScanBuffer_fn call = (clEnqueueScanBuffer_fn)causeway_cluster_function_of_queue(
        queues == NULL ? NULL : queues[0], "clEnqueueScanBuffer");
    return call == NULL ? CL_INVALID_OPERATION
                        : call(queues, num, src, dst, src_offset, dst_offset, cb, datatype, num_events_in_wait_list,
                               event_wait_list, event_list);
}

/*
 * The last four functions with the operator `op`, which must be associative and commutative. `kernel` is null unless
 * `op` is CL_REDUCTION_KERNEL. It must be built for every device of the context, because any of them may combine
 * elements. It has three arguments, `__global` pointers to elements of `datatype`: two operands and the result, which
 * is a range of its own. Work item i combines elements i.
 *
 * Beside the codes above: CL_INVALID_VALUE for an unknown operator, or a bitwise one with floating-point elements;
 * CL_INVALID_KERNEL for a kernel that is missing, or given with another operator; CL_INVALID_KERNEL_ARGS for one with
 * other arguments.
 */
static inline cl_int clEnqueueReduceBufferWithOp(cl_command_queue queue, cl_uint num_src, cl_mem* src, cl_mem dst,
                                                 size_t* src_offset, size_t dst_offset, size_t cb,
                                                 cl_channel_type datatype, cl_reduction_op op, cl_kernel kernel,
                                                 cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                                                 cl_event* event) {
    const clEnqueueReduceBufferWithOp_fn call = (clEnqueueReduceBufferWithOp_fn)causeway_cluster_function_of_queue(
        queue, "clEnqueueReduceBufferWithOp");
    return call == NULL ? CL_INVALID_OPERATION
                        : call(queue, num_src, src, dst, src_offset, dst_offset, cb, datatype, op, kernel,
                               num_events_in_wait_list, event_wait_list, event);
}
static inline cl_int clEnqueueAllReduceBufferWithOp(cl_command_queue* queues, cl_uint num, cl_mem* src, cl_mem* dst,
                                                    size_t* src_offset, size_t* dst_offset, size_t cb,
                                                    cl_channel_type datatype, cl_reduction_op op, cl_kernel kernel,
                                                    cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                                                    cl_event* event_list) {
    const clEnqueueAllReduceBufferWithOp_fn call = (clEnqueueAllReduceBufferWithOp_fn)
        causeway_cluster_function_of_queue(queues == NULL ? NULL : queues[0], "clEnqueueAllReduceBufferWithOp");
    return call == NULL ? CL_INVALID_OPERATION
                        : call(queues, num, src, dst, src_offset, dst_offset, cb, datatype, op, kernel,
                               num_events_in_wait_list, event_wait_list, event_list);
}
static inline cl_int clEnqueueReduceScatterBufferWithOp(cl_command_queue* queues, cl_uint num, cl_mem* src, cl_mem* dst,
                                                        size_t* src_offset, size_t* dst_offset, size_t cb,
                                                        cl_channel_type datatype, cl_reduction_op op, cl_kernel kernel,
                                                        cl_uint num_events_in_wait_list,
                                                        const cl_event* event_wait_list, cl_event* event_list) {
    const clEnqueueReduceScatterBufferWithOp_fn call = (clEnqueueReduceScatterBufferWithOp_fn)
        causeway_cluster_function_of_queue(queues == NULL ? NULL : queues[0], "clEnqueueReduceScatterBufferWithOp");
    return call == NULL ? CL_INVALID_OPERATION
                        : call(queues, num, src, dst, src_offset, dst_offset, cb, datatype, op, kernel,
                               num_events_in_wait_list, event_wait_list, event_list);
}
static inline cl_int clEnqueueScanBufferWithOp(cl_command_queue* queues, cl_uint num, cl_mem* src, cl_mem* dst,
                                               size_t* src_offset, size_t* dst_offset, size_t cb,
                                               cl_channel_type datatype, cl_reduction_op op, cl_kernel kernel,
                                               cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                                               cl_event* event_list) {
    const clEnqueueScanBufferWithOp_fn call = (clEnqueueScanBufferWithOp_fn)causeway_cluster_function_of_queue(
        queues == NULL ? NULL : queues[0], "clEnqueueScanBufferWithOp");
    return call == NULL ? CL_INVALID_OPERATION
                        : call(queues, num, src, dst, src_offset, dst_offset, cb, datatype, op, kernel,
                               num_events_in_wait_list, event_wait_list, event_list);
}

#ifdef __cplusplus
}
#endif

#endif
