// SPDX-License-Identifier: Apache-2.0
// The functions of OpenCL that the engine calls, through the table behind their first handle: what is linked with these
// needs no libOpenCL, and may itself be what a loader loads. Handles are of drivers that loaders can load.
#include <CL/cl.h>
#include <CL/cl_icd.h>

#include <CL/cl_ext.h>

namespace {

template <class Handle> const cl_icd_dispatch& table_of(Handle handle) {
    return **reinterpret_cast<const cl_icd_dispatch* const*>(handle);
}

} // namespace

// NAME(TYPES) as `(handle)->NAME(ARGUMENTS)`; null handles get `code`.
#define BY_TABLE(name, parameters, handle, code, arguments)                                                            \
    cl_int CL_API_CALL name parameters { return (handle) == nullptr ? (code) : table_of(handle).name arguments; }
#define MADE_BY_TABLE(made, name, parameters, handle, code, arguments)                                                 \
    made CL_API_CALL name parameters {                                                                                 \
        if ((handle) != nullptr) return table_of(handle).name arguments;                                               \
        if (error != nullptr) *error = code;                                                                           \
        return nullptr;                                                                                                \
    }

extern "C" {

BY_TABLE(clGetPlatformInfo, (cl_platform_id of, cl_platform_info what, size_t size, void* value, size_t* used), of,
         CL_INVALID_PLATFORM, (of, what, size, value, used))
BY_TABLE(clGetDeviceIDs, (cl_platform_id of, cl_device_type type, cl_uint room, cl_device_id* devices, cl_uint* count),
         of, CL_INVALID_PLATFORM, (of, type, room, devices, count))
BY_TABLE(clGetDeviceInfo, (cl_device_id of, cl_device_info what, size_t size, void* value, size_t* used), of,
         CL_INVALID_DEVICE, (of, what, size, value, used))
BY_TABLE(clGetContextInfo, (cl_context of, cl_context_info what, size_t size, void* value, size_t* used), of,
         CL_INVALID_CONTEXT, (of, what, size, value, used))
BY_TABLE(clGetCommandQueueInfo,
         (cl_command_queue of, cl_command_queue_info what, size_t size, void* value, size_t* used), of,
         CL_INVALID_COMMAND_QUEUE, (of, what, size, value, used))
BY_TABLE(clGetMemObjectInfo, (cl_mem of, cl_mem_info what, size_t size, void* value, size_t* used), of,
         CL_INVALID_MEM_OBJECT, (of, what, size, value, used))
BY_TABLE(clGetEventInfo, (cl_event of, cl_event_info what, size_t size, void* value, size_t* used), of,
         CL_INVALID_EVENT, (of, what, size, value, used))
BY_TABLE(clGetEventProfilingInfo, (cl_event of, cl_profiling_info what, size_t size, void* value, size_t* used), of,
         CL_INVALID_EVENT, (of, what, size, value, used))

BY_TABLE(clRetainContext, (cl_context one), one, CL_INVALID_CONTEXT, (one))
BY_TABLE(clReleaseContext, (cl_context one), one, CL_INVALID_CONTEXT, (one))
BY_TABLE(clRetainCommandQueue, (cl_command_queue one), one, CL_INVALID_COMMAND_QUEUE, (one))
BY_TABLE(clReleaseCommandQueue, (cl_command_queue one), one, CL_INVALID_COMMAND_QUEUE, (one))
BY_TABLE(clRetainMemObject, (cl_mem one), one, CL_INVALID_MEM_OBJECT, (one))
BY_TABLE(clReleaseMemObject, (cl_mem one), one, CL_INVALID_MEM_OBJECT, (one))
BY_TABLE(clRetainEvent, (cl_event one), one, CL_INVALID_EVENT, (one))
BY_TABLE(clReleaseEvent, (cl_event one), one, CL_INVALID_EVENT, (one))

MADE_BY_TABLE(cl_command_queue, clCreateCommandQueue,
              (cl_context in, cl_device_id device, cl_command_queue_properties properties, cl_int* error), in,
              CL_INVALID_CONTEXT, (in, device, properties, error))
MADE_BY_TABLE(cl_mem, clCreateBuffer, (cl_context in, cl_mem_flags flags, size_t size, void* host, cl_int* error), in,
              CL_INVALID_CONTEXT, (in, flags, size, host, error))
MADE_BY_TABLE(cl_event, clCreateUserEvent, (cl_context in, cl_int* error), in, CL_INVALID_CONTEXT, (in, error))

cl_context CL_API_CALL clCreateContext(const cl_context_properties* properties, cl_uint count,
                                       const cl_device_id* devices,
                                       void(CL_CALLBACK* notify)(const char*, const void*, size_t, void*), void* data,
                                       cl_int* error) {
    if (count != 0 && devices != nullptr)
        return table_of(*devices).clCreateContext(properties, count, devices, notify, data, error);
    if (error != nullptr) *error = CL_INVALID_VALUE;
    return nullptr;
}

void* CL_API_CALL clGetExtensionFunctionAddressForPlatform(cl_platform_id of, const char* name) {
    return of == nullptr ? nullptr : table_of(of).clGetExtensionFunctionAddressForPlatform(of, name);
}

BY_TABLE(clSetUserEventStatus, (cl_event one, cl_int status), one, CL_INVALID_EVENT, (one, status))
BY_TABLE(clSetEventCallback, (cl_event one, cl_int at, void(CL_CALLBACK* call)(cl_event, cl_int, void*), void* data),
         one, CL_INVALID_EVENT, (one, at, call, data))
BY_TABLE(clSetMemObjectDestructorCallback, (cl_mem one, void(CL_CALLBACK* call)(cl_mem, void*), void* data), one,
         CL_INVALID_MEM_OBJECT, (one, call, data))
cl_int CL_API_CALL clWaitForEvents(cl_uint count, const cl_event* events) {
    return count == 0 || events == nullptr ? CL_INVALID_VALUE : table_of(*events).clWaitForEvents(count, events);
}
BY_TABLE(clFlush, (cl_command_queue queue), queue, CL_INVALID_COMMAND_QUEUE, (queue))
BY_TABLE(clFinish, (cl_command_queue queue), queue, CL_INVALID_COMMAND_QUEUE, (queue))

BY_TABLE(clEnqueueReadBuffer,
         (cl_command_queue queue, cl_mem from, cl_bool blocking, size_t offset, size_t size, void* to, cl_uint count,
          const cl_event* list, cl_event* event),
         queue, CL_INVALID_COMMAND_QUEUE, (queue, from, blocking, offset, size, to, count, list, event))
BY_TABLE(clEnqueueWriteBuffer,
         (cl_command_queue queue, cl_mem to, cl_bool blocking, size_t offset, size_t size, const void* from,
          cl_uint count, const cl_event* list, cl_event* event),
         queue, CL_INVALID_COMMAND_QUEUE, (queue, to, blocking, offset, size, from, count, list, event))
BY_TABLE(clEnqueueReadBufferRect,
         (cl_command_queue queue, cl_mem from, cl_bool blocking, const size_t* origin, const size_t* host_origin,
          const size_t* region, size_t row, size_t slice, size_t host_row, size_t host_slice, void* to, cl_uint count,
          const cl_event* list, cl_event* event),
         queue, CL_INVALID_COMMAND_QUEUE,
         (queue, from, blocking, origin, host_origin, region, row, slice, host_row, host_slice, to, count, list, event))
BY_TABLE(clEnqueueWriteBufferRect,
         (cl_command_queue queue, cl_mem to, cl_bool blocking, const size_t* origin, const size_t* host_origin,
          const size_t* region, size_t row, size_t slice, size_t host_row, size_t host_slice, const void* from,
          cl_uint count, const cl_event* list, cl_event* event),
         queue, CL_INVALID_COMMAND_QUEUE,
         (queue, to, blocking, origin, host_origin, region, row, slice, host_row, host_slice, from, count, list, event))
BY_TABLE(clEnqueueCopyBuffer,
         (cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset, size_t to_offset, size_t size,
          cl_uint count, const cl_event* list, cl_event* event),
         queue, CL_INVALID_COMMAND_QUEUE, (queue, from, to, from_offset, to_offset, size, count, list, event))
BY_TABLE(clEnqueueFillBuffer,
         (cl_command_queue queue, cl_mem to, const void* pattern, size_t pattern_size, size_t offset, size_t size,
          cl_uint count, const cl_event* list, cl_event* event),
         queue, CL_INVALID_COMMAND_QUEUE, (queue, to, pattern, pattern_size, offset, size, count, list, event))
MADE_BY_TABLE(void*, clEnqueueMapBuffer,
              (cl_command_queue queue, cl_mem buffer, cl_bool blocking, cl_map_flags flags, size_t offset, size_t size,
               cl_uint count, const cl_event* list, cl_event* event, cl_int* error),
              queue, CL_INVALID_COMMAND_QUEUE,
              (queue, buffer, blocking, flags, offset, size, count, list, event, error))
BY_TABLE(clEnqueueUnmapMemObject,
         (cl_command_queue queue, cl_mem mapped, void* address, cl_uint count, const cl_event* list, cl_event* event),
         queue, CL_INVALID_COMMAND_QUEUE, (queue, mapped, address, count, list, event))
BY_TABLE(clEnqueueNativeKernel,
         (cl_command_queue queue, void(CL_CALLBACK* run)(void*), void* arguments, size_t size, cl_uint buffers,
          const cl_mem* list_of_buffers, const void** offsets, cl_uint count, const cl_event* list, cl_event* event),
         queue, CL_INVALID_COMMAND_QUEUE,
         (queue, run, arguments, size, buffers, list_of_buffers, offsets, count, list, event))
BY_TABLE(clEnqueueMarkerWithWaitList, (cl_command_queue queue, cl_uint count, const cl_event* list, cl_event* event),
         queue, CL_INVALID_COMMAND_QUEUE, (queue, count, list, event))
BY_TABLE(clEnqueueBarrierWithWaitList, (cl_command_queue queue, cl_uint count, const cl_event* list, cl_event* event),
         queue, CL_INVALID_COMMAND_QUEUE, (queue, count, list, event))

} // extern "C"
