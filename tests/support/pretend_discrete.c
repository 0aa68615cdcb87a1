/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded before a test, it makes devices say that they have memory of their own, on a platform that says it is one
 * of NVIDIA (but with PRETEND_DISCRETE_KEEP_NAME set it keeps its name, by which the library avoids its faults): the
 * library then does what it does on graphics cards. */
#include <CL/cl.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Small writes take long, as where another process uses the card. */
int pretend_slow_writes;
/* Rectangles: refused; or how many there were, and how many of those did not come from a buffer of page-locked memory.
 */
int pretend_no_rectangles, pretend_rectangles, pretend_unlocked_rectangles;
/* Where such buffers were mapped last. */
static struct {
    const char* first;
    size_t size;
} locked[4096];
static unsigned locked_count;
static pthread_mutex_t locked_guard = PTHREAD_MUTEX_INITIALIZER;

/* Writes are over only when some queue has been flushed behind them. */
int pretend_starts_at_flush;
static int unflushed;

/* User events, markers and barriers so far. */
int pretend_ordering;
/* Callbacks asked for. */
int pretend_callbacks;
/* An event of another queue that markers without a list wait for. */
cl_event pretend_kernel_elsewhere;

cl_int clSetEventCallback(cl_event event, cl_int status, void(CL_CALLBACK* call)(cl_event, cl_int, void*), void* data) {
    cl_int (*real)(cl_event, cl_int, void(CL_CALLBACK*)(cl_event, cl_int, void*), void*);
    *(void**)&real = dlsym(RTLD_NEXT, "clSetEventCallback");
    const cl_int code = real(event, status, call, data);
    __atomic_add_fetch(&pretend_callbacks, 1, __ATOMIC_RELAXED);
    return code;
}

cl_event clCreateUserEvent(cl_context context, cl_int* code) {
    cl_event (*real)(cl_context, cl_int*);
    *(void**)&real = dlsym(RTLD_NEXT, "clCreateUserEvent");
    __atomic_add_fetch(&pretend_ordering, 1, __ATOMIC_RELAXED);
    return real(context, code);
}

cl_int clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint count, const cl_event* list, cl_event* event) {
    cl_int (*real)(cl_command_queue, cl_uint, const cl_event*, cl_event*);
    *(void**)&real = dlsym(RTLD_NEXT, "clEnqueueMarkerWithWaitList");
    __atomic_add_fetch(&pretend_ordering, 1, __ATOMIC_RELAXED);
    if (count == 0 && pretend_kernel_elsewhere != NULL) return real(queue, 1, &pretend_kernel_elsewhere, event);
    return real(queue, count, list, event);
}

cl_int clEnqueueBarrierWithWaitList(cl_command_queue queue, cl_uint count, const cl_event* list, cl_event* event) {
    cl_int (*real)(cl_command_queue, cl_uint, const cl_event*, cl_event*);
    *(void**)&real = dlsym(RTLD_NEXT, "clEnqueueBarrierWithWaitList");
    __atomic_add_fetch(&pretend_ordering, 1, __ATOMIC_RELAXED);
    return real(queue, count, list, event);
}

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info name, size_t size, void* value, size_t* size_ret) {
    cl_int (*real)(cl_device_id, cl_device_info, size_t, void*, size_t*);
    *(void**)&real = dlsym(RTLD_NEXT, "clGetDeviceInfo");
    const cl_int code = real(device, name, size, value, size_ret);
    if (code == CL_SUCCESS && value != NULL && name == CL_DEVICE_HOST_UNIFIED_MEMORY) memset(value, 0, sizeof(cl_bool));
    return code;
}

cl_int clGetPlatformInfo(cl_platform_id platform, cl_platform_info name, size_t size, void* value, size_t* size_ret) {
    cl_int (*real)(cl_platform_id, cl_platform_info, size_t, void*, size_t*);
    *(void**)&real = dlsym(RTLD_NEXT, "clGetPlatformInfo");
    const cl_int code = real(platform, name, size, value, size_ret);
    if (code == CL_SUCCESS && value != NULL && name == CL_PLATFORM_NAME && getenv("PRETEND_DISCRETE_KEEP_NAME") == NULL)
        strncpy(value, "NVIDIA pretended", size);
    return code;
}

cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size,
                            const void* from, cl_uint count, const cl_event* list, cl_event* event) {
    cl_int (*real)(cl_command_queue, cl_mem, cl_bool, size_t, size_t, const void*, cl_uint, const cl_event*, cl_event*);
    *(void**)&real = dlsym(RTLD_NEXT, "clEnqueueWriteBuffer");
    if (pretend_slow_writes) usleep(2000);
    if (!blocking) __atomic_store_n(&unflushed, 1, __ATOMIC_RELAXED);
    return real(queue, buffer, blocking, offset, size, from, count, list, event);
}

/* The device has a copy of memory that the host has given, taken when the buffer was made. A map brings it back, over
 * what others have written there meanwhile, unless it says that nobody wants it. */
static void bring_back(void* mapped, size_t size) {
    void* const copy = malloc(size);
    if (copy == NULL) return;
    memcpy(copy, mapped, size);
    usleep(5000);
    memcpy(mapped, copy, size);
    free(copy);
}

void* clEnqueueMapBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, cl_map_flags flags, size_t offset,
                         size_t size, cl_uint count, const cl_event* list, cl_event* event, cl_int* code) {
    void* (*real)(cl_command_queue, cl_mem, cl_bool, cl_map_flags, size_t, size_t, cl_uint, const cl_event*, cl_event*,
                  cl_int*);
    *(void**)&real = dlsym(RTLD_NEXT, "clEnqueueMapBuffer");
    void* mapped = real(queue, buffer, blocking, flags, offset, size, count, list, event, code);
    cl_mem_flags of = 0;
    if (mapped == NULL || clGetMemObjectInfo(buffer, CL_MEM_FLAGS, sizeof of, &of, NULL) != CL_SUCCESS) return mapped;
    if (of & CL_MEM_USE_HOST_PTR && !(flags & CL_MAP_WRITE_INVALIDATE_REGION)) bring_back(mapped, size);
    if (of & CL_MEM_ALLOC_HOST_PTR) {
        pthread_mutex_lock(&locked_guard);
        const unsigned at = locked_count++ % (sizeof locked / sizeof *locked);
        locked[at].first = mapped;
        locked[at].size = size;
        pthread_mutex_unlock(&locked_guard);
    }
    return mapped;
}

static int is_locked(const char* byte) {
    int found = 0;
    pthread_mutex_lock(&locked_guard);
    for (unsigned i = 0; i < sizeof locked / sizeof *locked; ++i)
        found |= byte >= locked[i].first && byte < locked[i].first + locked[i].size;
    pthread_mutex_unlock(&locked_guard);
    return found;
}

cl_int clFlush(cl_command_queue queue) {
    cl_int (*real)(cl_command_queue);
    *(void**)&real = dlsym(RTLD_NEXT, "clFlush");
    __atomic_store_n(&unflushed, 0, __ATOMIC_RELAXED);
    return real(queue);
}

cl_int clGetEventInfo(cl_event event, cl_event_info name, size_t size, void* value, size_t* size_ret) {
    cl_int (*real)(cl_event, cl_event_info, size_t, void*, size_t*);
    *(void**)&real = dlsym(RTLD_NEXT, "clGetEventInfo");
    const cl_int code = real(event, name, size, value, size_ret);
    cl_command_type type = 0;
    if (pretend_starts_at_flush && code == CL_SUCCESS && name == CL_EVENT_COMMAND_EXECUTION_STATUS && value != NULL &&
        __atomic_load_n(&unflushed, __ATOMIC_RELAXED) &&
        real(event, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL) == CL_SUCCESS && type == CL_COMMAND_WRITE_BUFFER)
        *(cl_int*)value = CL_QUEUED;
    return code;
}

cl_int clEnqueueWriteBufferRect(cl_command_queue queue, cl_mem buffer, cl_bool blocking, const size_t* origin,
                                const size_t* host, const size_t* region, size_t row, size_t slice, size_t host_row,
                                size_t host_slice, const void* from, cl_uint count, const cl_event* list,
                                cl_event* event) {
    cl_int (*real)(cl_command_queue, cl_mem, cl_bool, const size_t*, const size_t*, const size_t*, size_t, size_t,
                   size_t, size_t, const void*, cl_uint, const cl_event*, cl_event*);
    *(void**)&real = dlsym(RTLD_NEXT, "clEnqueueWriteBufferRect");
    ++pretend_rectangles;
    if (!is_locked(from)) ++pretend_unlocked_rectangles;
    if (pretend_no_rectangles) return CL_INVALID_VALUE;
    return real(queue, buffer, blocking, origin, host, region, row, slice, host_row, host_slice, from, count, list,
                event);
}
