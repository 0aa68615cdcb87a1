/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded before a program, it lets calls of OpenCL fail: launches after the first FAILING_LAUNCHES, writes to
 * buffers after the first FAILING_WRITES, all out-of-order queues if FAILING_QUEUES is set, the making of kernels named
 * FAILING_KERNEL, and the start of OpenSHMEM with the code FAILING_SHMEM. Launch LOST_LAUNCH does nothing. Devices have
 * DEVICE_BYTES of memory, give buffers of BUFFER_BYTES, and say that they give only SAID_BUFFER_BYTES. They have no
 * doubles if DEVICE_WITHOUT_DOUBLES is set. */
#define _GNU_SOURCE
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

EXPORTED cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                       const size_t* offset, const size_t* size, const size_t* group, cl_uint events,
                                       const cl_event* list, cl_event* event) {
    static atomic_int launches;
    const char* const most = getenv("FAILING_LAUNCHES");
    const int number = atomic_fetch_add(&launches, 1);
    if (most != NULL && number >= atoi(most)) return CL_OUT_OF_RESOURCES;
    const char* const lost = getenv("LOST_LAUNCH");
    if (lost != NULL && number == atoi(lost)) return clEnqueueMarkerWithWaitList(queue, events, list, event);
    cl_int (*real)(cl_command_queue, cl_kernel, cl_uint, const size_t*, const size_t*, const size_t*, cl_uint,
                   const cl_event*, cl_event*);
    *(void**)&real = dlsym(RTLD_NEXT, "clEnqueueNDRangeKernel");
    return real(queue, kernel, dimensions, offset, size, group, events, list, event);
}

EXPORTED cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id device,
                                               cl_command_queue_properties properties, cl_int* code) {
    if ((properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0 && getenv("FAILING_QUEUES") != NULL) {
        if (code != NULL) *code = CL_OUT_OF_RESOURCES;
        return NULL;
    }
    cl_command_queue (*real)(cl_context, cl_device_id, cl_command_queue_properties, cl_int*);
    *(void**)&real = dlsym(RTLD_NEXT, "clCreateCommandQueue");
    return real(context, device, properties, code);
}

EXPORTED cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                                     size_t size, const void* from, cl_uint events, const cl_event* list,
                                     cl_event* event) {
    static atomic_int writes;
    const char* const most = getenv("FAILING_WRITES");
    if (most != NULL && atomic_fetch_add(&writes, 1) >= atoi(most)) return CL_OUT_OF_RESOURCES;
    cl_int (*real)(cl_command_queue, cl_mem, cl_bool, size_t, size_t, const void*, cl_uint, const cl_event*, cl_event*);
    *(void**)&real = dlsym(RTLD_NEXT, "clEnqueueWriteBuffer");
    return real(queue, buffer, blocking, offset, size, from, events, list, event);
}

EXPORTED cl_kernel clCreateKernel(cl_program program, const char* name, cl_int* code) {
    const char* const failing = getenv("FAILING_KERNEL");
    if (failing != NULL && strcmp(name, failing) == 0) {
        if (code != NULL) *code = CL_OUT_OF_RESOURCES;
        return NULL;
    }
    cl_kernel (*real)(cl_program, const char*, cl_int*);
    *(void**)&real = dlsym(RTLD_NEXT, "clCreateKernel");
    return real(program, name, code);
}

EXPORTED cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void* host, cl_int* code) {
    const char* const most = getenv("BUFFER_BYTES");
    if (most != NULL && size > strtoull(most, NULL, 10)) {
        if (code != NULL) *code = CL_INVALID_BUFFER_SIZE;
        return NULL;
    }
    cl_mem (*real)(cl_context, cl_mem_flags, size_t, void*, cl_int*);
    *(void**)&real = dlsym(RTLD_NEXT, "clCreateBuffer");
    return real(context, flags, size, host, code);
}

EXPORTED cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t size, void* value, size_t* needed) {
    cl_int (*real)(cl_device_id, cl_device_info, size_t, void*, size_t*);
    *(void**)&real = dlsym(RTLD_NEXT, "clGetDeviceInfo");
    const cl_int code = real(device, what, size, value, needed);
    const char* const bytes = getenv("DEVICE_BYTES");
    if (bytes != NULL && what == CL_DEVICE_GLOBAL_MEM_SIZE && value != NULL)
        *(cl_ulong*)value = strtoull(bytes, NULL, 10);
    const char* const most = getenv("SAID_BUFFER_BYTES");
    if (most != NULL && what == CL_DEVICE_MAX_MEM_ALLOC_SIZE && value != NULL)
        *(cl_ulong*)value = strtoull(most, NULL, 10);
    if (getenv("DEVICE_WITHOUT_DOUBLES") != NULL && what == CL_DEVICE_DOUBLE_FP_CONFIG && value != NULL)
        *(cl_device_fp_config*)value = 0;
    return code;
}

EXPORTED int shmem_init_thread(int requested, int* provided) {
    const char* const code = getenv("FAILING_SHMEM");
    if (code != NULL) return atoi(code);
    int (*real)(int, int*);
    *(void**)&real = dlsym(RTLD_NEXT, "shmem_init_thread");
    return real(requested, provided);
}
