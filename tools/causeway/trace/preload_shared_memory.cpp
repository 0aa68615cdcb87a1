// SPDX-License-Identifier: Apache-2.0
// Commands of a program on shared virtual memory, shown to the timeline, which knows the kinds of OpenCL 1.2 by itself.
#include "trace/preload.hpp"

using namespace preload;

EXPORTED cl_int clEnqueueSVMFree(cl_command_queue queue, cl_uint pointers, void** pointer_list,
                                 void(CL_CALLBACK* function)(cl_command_queue, cl_uint, void**, void*), void* data,
                                 cl_uint count, const cl_event* list, cl_event* event) {
    static auto* const call = next<decltype(clEnqueueSVMFree)>("clEnqueueSVMFree");
    return enqueue(__builtin_return_address(0), call, "SVM free", count, list, event, queue, pointers, pointer_list,
                   function, data);
}

EXPORTED cl_int clEnqueueSVMMemcpy(cl_command_queue queue, cl_bool blocking, void* target, const void* source,
                                   size_t size, cl_uint count, const cl_event* list, cl_event* event) {
    static auto* const call = next<decltype(clEnqueueSVMMemcpy)>("clEnqueueSVMMemcpy");
    return enqueue(__builtin_return_address(0), call, "SVM copy", count, list, event, queue, blocking, target, source,
                   size);
}

EXPORTED cl_int clEnqueueSVMMemFill(cl_command_queue queue, void* memory, const void* pattern, size_t pattern_size,
                                    size_t size, cl_uint count, const cl_event* list, cl_event* event) {
    static auto* const call = next<decltype(clEnqueueSVMMemFill)>("clEnqueueSVMMemFill");
    return enqueue(__builtin_return_address(0), call, "SVM fill", count, list, event, queue, memory, pattern,
                   pattern_size, size);
}

EXPORTED cl_int clEnqueueSVMMap(cl_command_queue queue, cl_bool blocking, cl_map_flags flags, void* memory, size_t size,
                                cl_uint count, const cl_event* list, cl_event* event) {
    static auto* const call = next<decltype(clEnqueueSVMMap)>("clEnqueueSVMMap");
    return enqueue(__builtin_return_address(0), call, "SVM map", count, list, event, queue, blocking, flags, memory,
                   size);
}

EXPORTED cl_int clEnqueueSVMUnmap(cl_command_queue queue, void* memory, cl_uint count, const cl_event* list,
                                  cl_event* event) {
    static auto* const call = next<decltype(clEnqueueSVMUnmap)>("clEnqueueSVMUnmap");
    return enqueue(__builtin_return_address(0), call, "SVM unmap", count, list, event, queue, memory);
}

EXPORTED cl_int clEnqueueSVMMigrateMem(cl_command_queue queue, cl_uint pointers, const void** pointer_list,
                                       const size_t* sizes, cl_mem_migration_flags flags, cl_uint count,
                                       const cl_event* list, cl_event* event) {
    static auto* const call = next<decltype(clEnqueueSVMMigrateMem)>("clEnqueueSVMMigrateMem");
    return enqueue(__builtin_return_address(0), call, "SVM migrate", count, list, event, queue, pointers, pointer_list,
                   sizes, flags);
}
