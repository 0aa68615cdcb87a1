// SPDX-License-Identifier: Apache-2.0
// Commands of a program on images, shown to the timeline.
#include "trace/preload.hpp"

using namespace preload;

EXPORTED cl_int clEnqueueReadImage(cl_command_queue queue, cl_mem image, cl_bool blocking, const size_t* origin,
                                   const size_t* region, size_t row, size_t slice, void* memory, cl_uint count,
                                   const cl_event* list, cl_event* event) {
    static auto* const call = next<decltype(clEnqueueReadImage)>("clEnqueueReadImage");
    return enqueue(__builtin_return_address(0), call, nullptr, count, list, event, queue, image, blocking, origin,
                   region, row, slice, memory);
}

EXPORTED cl_int clEnqueueWriteImage(cl_command_queue queue, cl_mem image, cl_bool blocking, const size_t* origin,
                                    const size_t* region, size_t row, size_t slice, const void* memory, cl_uint count,
                                    const cl_event* list, cl_event* event) {
    static auto* const call = next<decltype(clEnqueueWriteImage)>("clEnqueueWriteImage");
    return enqueue(__builtin_return_address(0), call, nullptr, count, list, event, queue, image, blocking, origin,
                   region, row, slice, memory);
}

EXPORTED cl_int clEnqueueCopyImage(cl_command_queue queue, cl_mem source, cl_mem target, const size_t* source_origin,
                                   const size_t* target_origin, const size_t* region, cl_uint count,
                                   const cl_event* list, cl_event* event) {
    static auto* const call = next<decltype(clEnqueueCopyImage)>("clEnqueueCopyImage");
    return enqueue(__builtin_return_address(0), call, nullptr, count, list, event, queue, source, target, source_origin,
                   target_origin, region);
}

EXPORTED cl_int clEnqueueCopyImageToBuffer(cl_command_queue queue, cl_mem source, cl_mem target,
                                           const size_t* source_origin, const size_t* region, size_t target_offset,
                                           cl_uint count, const cl_event* list, cl_event* event) {
    static auto* const call = next<decltype(clEnqueueCopyImageToBuffer)>("clEnqueueCopyImageToBuffer");
    return enqueue(__builtin_return_address(0), call, nullptr, count, list, event, queue, source, target, source_origin,
                   region, target_offset);
}

EXPORTED cl_int clEnqueueCopyBufferToImage(cl_command_queue queue, cl_mem source, cl_mem target, size_t source_offset,
                                           const size_t* target_origin, const size_t* region, cl_uint count,
                                           const cl_event* list, cl_event* event) {
    static auto* const call = next<decltype(clEnqueueCopyBufferToImage)>("clEnqueueCopyBufferToImage");
    return enqueue(__builtin_return_address(0), call, nullptr, count, list, event, queue, source, target, source_offset,
                   target_origin, region);
}

EXPORTED cl_int clEnqueueFillImage(cl_command_queue queue, cl_mem image, const void* color, const size_t* origin,
                                   const size_t* region, cl_uint count, const cl_event* list, cl_event* event) {
    static auto* const call = next<decltype(clEnqueueFillImage)>("clEnqueueFillImage");
    return enqueue(__builtin_return_address(0), call, nullptr, count, list, event, queue, image, color, origin, region);
}

EXPORTED void* clEnqueueMapImage(cl_command_queue queue, cl_mem image, cl_bool blocking, cl_map_flags flags,
                                 const size_t* origin, const size_t* region, size_t* row, size_t* slice, cl_uint count,
                                 const cl_event* list, cl_event* event, cl_int* code_ret) {
    static auto* const call = next<decltype(clEnqueueMapImage)>("clEnqueueMapImage");
    void* mapped = nullptr;
    const cl_int code = watched(__builtin_return_address(0), nullptr, count, list, event, [&](cl_event* to) {
        cl_int made = CL_SUCCESS;
        mapped = call(queue, image, blocking, flags, origin, region, row, slice, count, list, to, &made);
        return made;
    });
    if (code_ret != nullptr) *code_ret = code;
    return mapped;
}
