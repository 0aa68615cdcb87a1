// SPDX-License-Identifier: Apache-2.0
// Asks an event for the times of its command.
#include "cl/command_times.hpp"

#include "cl/calls.hpp"

namespace causeway::cl {

namespace {

std::string_view name_of(cl_command_type type) {
    switch (type) {
    case CL_COMMAND_NDRANGE_KERNEL:
    case CL_COMMAND_TASK: return "kernel";
    case CL_COMMAND_NATIVE_KERNEL: return "native kernel";
    case CL_COMMAND_READ_BUFFER:
    case CL_COMMAND_READ_BUFFER_RECT: return "read buffer";
    case CL_COMMAND_WRITE_BUFFER:
    case CL_COMMAND_WRITE_BUFFER_RECT: return "write buffer";
    case CL_COMMAND_COPY_BUFFER:
    case CL_COMMAND_COPY_BUFFER_RECT: return "copy buffer";
    case CL_COMMAND_FILL_BUFFER: return "fill buffer";
    case CL_COMMAND_READ_IMAGE: return "read image";
    case CL_COMMAND_WRITE_IMAGE: return "write image";
    case CL_COMMAND_COPY_IMAGE: return "copy image";
    case CL_COMMAND_COPY_IMAGE_TO_BUFFER: return "copy image to buffer";
    case CL_COMMAND_COPY_BUFFER_TO_IMAGE: return "copy buffer to image";
    case CL_COMMAND_FILL_IMAGE: return "fill image";
    case CL_COMMAND_MAP_BUFFER:
    case CL_COMMAND_MAP_IMAGE: return "map";
    case CL_COMMAND_UNMAP_MEM_OBJECT: return "unmap";
    case CL_COMMAND_MIGRATE_MEM_OBJECTS: return "migrate";
    case CL_COMMAND_MARKER:
    case CL_COMMAND_BARRIER: return "marker";
    default: return "command";
    }
}

std::uint64_t time_of(cl_event event, cl_profiling_info which) {
    cl_ulong time = 0;
    return clGetEventProfilingInfo(event, which, sizeof time, &time, nullptr) == CL_SUCCESS ? time : 0;
}

} // namespace

command_times times_of(cl_event event) {
    command_times found;
    cl_command_type type = CL_COMMAND_USER;
    if (clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof type, &type, nullptr) != CL_SUCCESS ||
        type == CL_COMMAND_USER)
        return found;
    found.name = name_of(type);
    cl_device_id device = nullptr;
    if (clGetEventInfo(event, CL_EVENT_COMMAND_QUEUE, sizeof found.queue, &found.queue, nullptr) == CL_SUCCESS &&
        found.queue != nullptr &&
        clGetCommandQueueInfo(found.queue, CL_QUEUE_DEVICE, sizeof device, &device, nullptr) == CL_SUCCESS)
        found.resource = facts_of(device).identity;
    found.ended = time_of(event, CL_PROFILING_COMMAND_END);
    if (found.ended == 0) return found;
    found.started = time_of(event, CL_PROFILING_COMMAND_START);
    found.queued = time_of(event, CL_PROFILING_COMMAND_QUEUED);
    found.submitted = time_of(event, CL_PROFILING_COMMAND_SUBMIT);
    return found;
}

} // namespace causeway::cl
