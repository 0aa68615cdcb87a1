// SPDX-License-Identifier: Apache-2.0
// Stands before the functions of OpenCL that may fail.
#include "faults/point_lists.hpp"

#include <CL/cl.h>

#include <cstring>

using namespace faults;

namespace {

fault_point create_buffer{"clCreateBuffer", layer::opencl, CL_MEM_OBJECT_ALLOCATION_FAILURE};
fault_point create_queue{"clCreateCommandQueue", layer::opencl, CL_OUT_OF_RESOURCES};
fault_point create_user_event{"clCreateUserEvent", layer::opencl, CL_OUT_OF_RESOURCES};
fault_point barrier{"clEnqueueBarrierWithWaitList", layer::opencl, CL_OUT_OF_RESOURCES};
fault_point marker{"clEnqueueMarkerWithWaitList", layer::opencl, CL_OUT_OF_RESOURCES};
fault_point native_kernel{"clEnqueueNativeKernel", layer::opencl, CL_OUT_OF_RESOURCES};
fault_point copy{"clEnqueueCopyBuffer", layer::opencl, CL_OUT_OF_RESOURCES};
fault_point map{"clEnqueueMapBuffer", layer::opencl, CL_MAP_FAILURE};
fault_point unmap{"clEnqueueUnmapMemObject", layer::opencl, CL_OUT_OF_RESOURCES};
fault_point read_buffer{"clEnqueueReadBuffer", layer::opencl, CL_OUT_OF_RESOURCES};
fault_point write_buffer{"clEnqueueWriteBuffer", layer::opencl, CL_OUT_OF_RESOURCES};
fault_point read_rect{"clEnqueueReadBufferRect", layer::opencl, CL_OUT_OF_RESOURCES};
fault_point write_rect{"clEnqueueWriteBufferRect", layer::opencl, CL_OUT_OF_RESOURCES};
fault_point flush{"clFlush", layer::opencl, CL_OUT_OF_RESOURCES};
fault_point finish{"clFinish", layer::opencl, CL_OUT_OF_RESOURCES};
fault_point queue_info{"clGetCommandQueueInfo", layer::opencl, CL_OUT_OF_RESOURCES};
fault_point device_info{"clGetDeviceInfo", layer::opencl, CL_OUT_OF_RESOURCES};
fault_point event_info{"clGetEventInfo", layer::opencl, CL_OUT_OF_RESOURCES};
fault_point memory_info{"clGetMemObjectInfo", layer::opencl, CL_OUT_OF_RESOURCES};
fault_point callback{"clSetEventCallback", layer::opencl, CL_OUT_OF_RESOURCES};
// Counted only: nobody can do anything about its failure.
fault_point release_event{"clReleaseEvent", layer::opencl, CL_OUT_OF_RESOURCES};
fault_point wait_for{"clWaitForEvents", layer::opencl, CL_OUT_OF_RESOURCES};

template <class Object> Object no_object(const fault_point& which, cl_int* code) {
    if (code != nullptr) *code = which.code;
    return nullptr;
}

} // namespace

std::vector<fault_point*> faults::opencl_points() {
    return {&create_buffer, &create_queue, &create_user_event, &barrier,     &marker,     &copy,     &map,
            &unmap,         &read_buffer,  &write_buffer,      &read_rect,   &write_rect, &flush,    &finish,
            &queue_info,    &device_info,  &event_info,        &memory_info, &callback,   &wait_for, &native_kernel};
}

unsigned faults::released_events() { return release_event.calls; }

cl_int clReleaseEvent(cl_event event) {
    static_cast<void>(release_event.fails(__builtin_return_address(0)));
    return real<&clReleaseEvent>(release_event)(event);
}

cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void* host, cl_int* code) {
    if (create_buffer.fails(__builtin_return_address(0))) return no_object<cl_mem>(create_buffer, code);
    return real<&clCreateBuffer>(create_buffer)(context, flags, size, host, code);
}

cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id device, cl_command_queue_properties properties,
                                      cl_int* code) {
    if (create_queue.fails(__builtin_return_address(0))) return no_object<cl_command_queue>(create_queue, code);
    return real<&clCreateCommandQueue>(create_queue)(context, device, properties, code);
}

cl_event clCreateUserEvent(cl_context context, cl_int* code) {
    if (create_user_event.fails(__builtin_return_address(0))) return no_object<cl_event>(create_user_event, code);
    return real<&clCreateUserEvent>(create_user_event)(context, code);
}

cl_int clEnqueueBarrierWithWaitList(cl_command_queue queue, cl_uint count, const cl_event* list, cl_event* event) {
    if (barrier.fails(__builtin_return_address(0))) return barrier.code;
    return real<&clEnqueueBarrierWithWaitList>(barrier)(queue, count, list, event);
}

cl_int clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint count, const cl_event* list, cl_event* event) {
    if (marker.fails(__builtin_return_address(0))) return marker.code;
    return real<&clEnqueueMarkerWithWaitList>(marker)(queue, count, list, event);
}

cl_int clEnqueueNativeKernel(cl_command_queue queue, void(CL_CALLBACK* function)(void*), void* arguments, size_t size,
                             cl_uint buffer_count, const cl_mem* buffers, const void** places, cl_uint count,
                             const cl_event* list, cl_event* event) {
    if (native_kernel.fails(__builtin_return_address(0))) return native_kernel.code;
    return real<&clEnqueueNativeKernel>(native_kernel)(queue, function, arguments, size, buffer_count, buffers, places,
                                                       count, list, event);
}

cl_int clEnqueueCopyBuffer(cl_command_queue queue, cl_mem source, cl_mem target, size_t source_offset,
                           size_t target_offset, size_t size, cl_uint count, const cl_event* list, cl_event* event) {
    if (copy.fails(__builtin_return_address(0))) return copy.code;
    return real<&clEnqueueCopyBuffer>(copy)(queue, source, target, source_offset, target_offset, size, count, list,
                                            event);
}

void* clEnqueueMapBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, cl_map_flags flags, size_t offset,
                         size_t size, cl_uint count, const cl_event* list, cl_event* event, cl_int* code) {
    if (map.fails(__builtin_return_address(0))) return no_object<void*>(map, code);
    return real<&clEnqueueMapBuffer>(map)(queue, buffer, blocking, flags, offset, size, count, list, event, code);
}

cl_int clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem memory, void* mapped, cl_uint count, const cl_event* list,
                               cl_event* event) {
    if (unmap.fails(__builtin_return_address(0))) return unmap.code;
    return real<&clEnqueueUnmapMemObject>(unmap)(queue, memory, mapped, count, list, event);
}

cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size,
                           void* host, cl_uint count, const cl_event* list, cl_event* event) {
    if (read_buffer.fails(__builtin_return_address(0))) return read_buffer.code;
    return real<&clEnqueueReadBuffer>(read_buffer)(queue, buffer, blocking, offset, size, host, count, list, event);
}

cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size,
                            const void* host, cl_uint count, const cl_event* list, cl_event* event) {
    if (write_buffer.fails(__builtin_return_address(0))) return write_buffer.code;
    return real<&clEnqueueWriteBuffer>(write_buffer)(queue, buffer, blocking, offset, size, host, count, list, event);
}

cl_int clEnqueueReadBufferRect(cl_command_queue queue, cl_mem buffer, cl_bool blocking, const size_t* buffer_origin,
                               const size_t* host_origin, const size_t* region, size_t buffer_row, size_t buffer_slice,
                               size_t host_row, size_t host_slice, void* host, cl_uint count, const cl_event* list,
                               cl_event* event) {
    if (read_rect.fails(__builtin_return_address(0))) return read_rect.code;
    return real<&clEnqueueReadBufferRect>(read_rect)(queue, buffer, blocking, buffer_origin, host_origin, region,
                                                     buffer_row, buffer_slice, host_row, host_slice, host, count, list,
                                                     event);
}

cl_int clEnqueueWriteBufferRect(cl_command_queue queue, cl_mem buffer, cl_bool blocking, const size_t* buffer_origin,
                                const size_t* host_origin, const size_t* region, size_t buffer_row, size_t buffer_slice,
                                size_t host_row, size_t host_slice, const void* host, cl_uint count,
                                const cl_event* list, cl_event* event) {
    if (write_rect.fails(__builtin_return_address(0))) return write_rect.code;
    return real<&clEnqueueWriteBufferRect>(write_rect)(queue, buffer, blocking, buffer_origin, host_origin, region,
                                                       buffer_row, buffer_slice, host_row, host_slice, host, count,
                                                       list, event);
}

cl_int clFlush(cl_command_queue queue) {
    if (flush.fails(__builtin_return_address(0))) return flush.code;
    return real<&clFlush>(flush)(queue);
}

cl_int clFinish(cl_command_queue queue) {
    if (finish.fails(__builtin_return_address(0))) return finish.code;
    fail_late();
    return real<&clFinish>(finish)(queue);
}

cl_int clGetCommandQueueInfo(cl_command_queue queue, cl_command_queue_info name, size_t size, void* value,
                             size_t* size_ret) {
    if (queue_info.fails(__builtin_return_address(0))) return queue_info.code;
    return real<&clGetCommandQueueInfo>(queue_info)(queue, name, size, value, size_ret);
}

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info name, size_t size, void* value, size_t* size_ret) {
    if (device_info.fails(__builtin_return_address(0))) return device_info.code;
    if (name == CL_DEVICE_PLATFORM) held_up_engine::platform_is_asked_for(__builtin_return_address(0));
    const auto code = real<&clGetDeviceInfo>(device_info)(device, name, size, value, size_ret);
    if (name == CL_DEVICE_HOST_UNIFIED_MEMORY && code == CL_SUCCESS && value != nullptr &&
        pretended_discrete_devices::deceive(device, __builtin_return_address(0)))
        std::memset(value, 0, sizeof(cl_bool));
    return code;
}

cl_int clGetPlatformInfo(cl_platform_id platform, cl_platform_info name, size_t size, void* value, size_t* size_ret) {
    // Not a point that fails: the library asks at the first use of a device only.
    static fault_point platform_info{"clGetPlatformInfo", layer::opencl, CL_OUT_OF_HOST_MEMORY};
    const auto code = real<&clGetPlatformInfo>(platform_info)(platform, name, size, value, size_ret);
    if (name == CL_PLATFORM_NAME && code == CL_SUCCESS && value != nullptr &&
        pretended_discrete_devices::deceive_about_platform(__builtin_return_address(0)))
        std::strncpy(static_cast<char*>(value), "another", size);
    return code;
}

cl_int clGetEventInfo(cl_event event, cl_event_info name, size_t size, void* value, size_t* size_ret) {
    if (event_info.fails(__builtin_return_address(0))) return event_info.code;
    if (name == CL_EVENT_COMMAND_EXECUTION_STATUS) held_up_engine::state_is_asked_for(__builtin_return_address(0));
    const auto code = real<&clGetEventInfo>(event_info)(event, name, size, value, size_ret);
    if (name == CL_EVENT_COMMAND_EXECUTION_STATUS && code == CL_SUCCESS &&
        *static_cast<cl_int*>(value) == CL_COMPLETE && pretends_failure(event))
        *static_cast<cl_int*>(value) = CL_OUT_OF_RESOURCES;
    return code;
}

cl_int clGetMemObjectInfo(cl_mem memory, cl_mem_info name, size_t size, void* value, size_t* size_ret) {
    if (memory_info.fails(__builtin_return_address(0))) return memory_info.code;
    return real<&clGetMemObjectInfo>(memory_info)(memory, name, size, value, size_ret);
}

cl_int clSetEventCallback(cl_event event, cl_int state, void(CL_CALLBACK* told)(cl_event, cl_int, void*),
                          void* argument) {
    if (callback.fails(__builtin_return_address(0))) return callback.code;
    return real<&clSetEventCallback>(callback)(event, state, told, argument);
}

cl_int clWaitForEvents(cl_uint count, const cl_event* list) {
    if (wait_for.fails(__builtin_return_address(0))) return wait_for.code;
    fail_late();
    return real<&clWaitForEvents>(wait_for)(count, list);
}
