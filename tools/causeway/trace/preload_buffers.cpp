// SPDX-License-Identifier: Apache-2.0
// Commands of a program on buffers, and on any memory object, shown to the timeline.
#include "trace/preload.hpp"

using namespace preload;

EXPORTED cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size,
                                    void* memory, cl_uint count, const cl_event* list, cl_event* event) {
    static auto* const call = next<decltype(clEnqueueReadBuffer)>("clEnqueueReadBuffer");
    return enqueue(__builtin_return_address(0), call, nullptr, count, list, event, queue, buffer, blocking, offset,
                   size, memory);
}

EXPORTED cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                                     size_t size, const void* memory, cl_uint count, const cl_event* list,
                                     cl_event* event) {
    static auto* const call = next<decltype(clEnqueueWriteBuffer)>("clEnqueueWriteBuffer");
    return enqueue(__builtin_return_address(0), call, nullptr, count, list, event, queue, buffer, blocking, offset,
                   size, memory);
}

EXPORTED cl_int clEnqueueReadBufferRect(cl_command_queue queue, cl_mem buffer, cl_bool blocking, const size_t* origin,
                                        const size_t* host_origin, const size_t* region, size_t row, size_t slice,
                                        size_t host_row, size_t host_slice, void* memory, cl_uint count,
                                        const cl_event* list, cl_event* event) {
    static auto* const call = next<decltype(clEnqueueReadBufferRect)>("clEnqueueReadBufferRect");
    return enqueue(__builtin_return_address(0), call, nullptr, count, list, event, queue, buffer, blocking, origin,
                   host_origin, region, row, slice, host_row, host_slice, memory);
}

EXPORTED cl_int clEnqueueWriteBufferRect(cl_command_queue queue, cl_mem buffer, cl_bool blocking, const size_t* origin,
                                         const size_t* host_origin, const size_t* region, size_t row, size_t slice,
                                         size_t host_row, size_t host_slice, const void* memory, cl_uint count,
                                         const cl_event* list, cl_event* event) {
    static auto* const call = next<decltype(clEnqueueWriteBufferRect)>("clEnqueueWriteBufferRect");
    return enqueue(__builtin_return_address(0), call, nullptr, count, list, event, queue, buffer, blocking, origin,
                   host_origin, region, row, slice, host_row, host_slice, memory);
}

EXPORTED cl_int clEnqueueCopyBuffer(cl_command_queue queue, cl_mem source, cl_mem target, size_t source_offset,
                                    size_t target_offset, size_t size, cl_uint count, const cl_event* list,
                                    cl_event* event) {
    static auto* const call = next<decltype(clEnqueueCopyBuffer)>("clEnqueueCopyBuffer");
    return enqueue(__builtin_return_address(0), call, nullptr, count, list, event, queue, source, target, source_offset,
                   target_offset, size);
}

EXPORTED cl_int clEnqueueCopyBufferRect(cl_command_queue queue, cl_mem source, cl_mem target,
                                        const size_t* source_origin, const size_t* target_origin, const size_t* region,
                                        size_t source_row, size_t source_slice, size_t target_row, size_t target_slice,
                                        cl_uint count, const cl_event* list, cl_event* event) {
    static auto* const call = next<decltype(clEnqueueCopyBufferRect)>("clEnqueueCopyBufferRect");
    return enqueue(__builtin_return_address(0), call, nullptr, count, list, event, queue, source, target, source_origin,
                   target_origin, region, source_row, source_slice, target_row, target_slice);
}

EXPORTED cl_int clEnqueueFillBuffer(cl_command_queue queue, cl_mem buffer, const void* pattern, size_t pattern_size,
                                    size_t offset, size_t size, cl_uint count, const cl_event* list, cl_event* event) {
    static auto* const call = next<decltype(clEnqueueFillBuffer)>("clEnqueueFillBuffer");
    return enqueue(__builtin_return_address(0), call, nullptr, count, list, event, queue, buffer, pattern, pattern_size,
                   offset, size);
}

EXPORTED void* clEnqueueMapBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, cl_map_flags flags,
                                  size_t offset, size_t size, cl_uint count, const cl_event* list, cl_event* event,
                                  cl_int* code_ret) {
    static auto* const call = next<decltype(clEnqueueMapBuffer)>("clEnqueueMapBuffer");
    void* mapped = nullptr;
    const cl_int code = watched(__builtin_return_address(0), nullptr, count, list, event, [&](cl_event* to) {
        cl_int made = CL_SUCCESS;
        mapped = call(queue, buffer, blocking, flags, offset, size, count, list, to, &made);
        return made;
    });
    if (code_ret != nullptr) *code_ret = code;
    return mapped;
}

EXPORTED cl_int clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem object, void* mapped, cl_uint count,
                                        const cl_event* list, cl_event* event) {
    static auto* const call = next<decltype(clEnqueueUnmapMemObject)>("clEnqueueUnmapMemObject");
    return enqueue(__builtin_return_address(0), call, nullptr, count, list, event, queue, object, mapped);
}

EXPORTED cl_int clEnqueueMigrateMemObjects(cl_command_queue queue, cl_uint objects, const cl_mem* object_list,
                                           cl_mem_migration_flags flags, cl_uint count, const cl_event* list,
                                           cl_event* event) {
    static auto* const call = next<decltype(clEnqueueMigrateMemObjects)>("clEnqueueMigrateMemObjects");
    return enqueue(__builtin_return_address(0), call, nullptr, count, list, event, queue, objects, object_list, flags);
}
