// SPDX-License-Identifier: Apache-2.0
// Asks OpenCL objects about themselves.
#include "cl/calls.hpp"

#include "base/error.hpp"

#include <string_view>

namespace causeway::cl {

std::string code_text(cl_int code) {
    const char* name = "error";
    switch (code) {
    case CL_DEVICE_NOT_AVAILABLE: name = "CL_DEVICE_NOT_AVAILABLE"; break;
    case CL_MEM_OBJECT_ALLOCATION_FAILURE: name = "CL_MEM_OBJECT_ALLOCATION_FAILURE"; break;
    case CL_OUT_OF_RESOURCES: name = "CL_OUT_OF_RESOURCES"; break;
    case CL_OUT_OF_HOST_MEMORY: name = "CL_OUT_OF_HOST_MEMORY"; break;
    case CL_MEM_COPY_OVERLAP: name = "CL_MEM_COPY_OVERLAP"; break;
    case CL_MAP_FAILURE: name = "CL_MAP_FAILURE"; break;
    case CL_MISALIGNED_SUB_BUFFER_OFFSET: name = "CL_MISALIGNED_SUB_BUFFER_OFFSET"; break;
    case CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST: name = "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"; break;
    case CL_INVALID_VALUE: name = "CL_INVALID_VALUE"; break;
    case CL_INVALID_DEVICE: name = "CL_INVALID_DEVICE"; break;
    case CL_INVALID_CONTEXT: name = "CL_INVALID_CONTEXT"; break;
    case CL_INVALID_COMMAND_QUEUE: name = "CL_INVALID_COMMAND_QUEUE"; break;
    case CL_INVALID_MEM_OBJECT: name = "CL_INVALID_MEM_OBJECT"; break;
    case CL_INVALID_EVENT_WAIT_LIST: name = "CL_INVALID_EVENT_WAIT_LIST"; break;
    case CL_INVALID_EVENT: name = "CL_INVALID_EVENT"; break;
    case CL_INVALID_OPERATION: name = "CL_INVALID_OPERATION"; break;
    case CL_INVALID_BUFFER_SIZE: name = "CL_INVALID_BUFFER_SIZE"; break;
    default: break;
    }
    return std::string(name) + " (" + std::to_string(code) + ")";
}

void check(cl_int code, const std::string& what) {
    if (code != CL_SUCCESS) throw transfer_error(code, what + ": " + code_text(code));
}

queue_facts facts_of(cl_command_queue queue) {
    queue_facts facts;
    cl_command_queue_properties properties = 0;
    if (queue == nullptr ||
        clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof facts.context, &facts.context, nullptr) != CL_SUCCESS ||
        clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof facts.device, &facts.device, nullptr) != CL_SUCCESS ||
        clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, nullptr) != CL_SUCCESS)
        throw transfer_error(status::invalid_command_queue, "the command queue is not valid");
    facts.in_order = (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) == 0;
    return facts;
}

buffer_facts facts_of(cl_mem buffer) {
    buffer_facts facts;
    const auto ask = [&](cl_mem_info name, auto& value) {
        return clGetMemObjectInfo(buffer, name, sizeof value, &value, nullptr) == CL_SUCCESS;
    };
    if (buffer == nullptr || !ask(CL_MEM_TYPE, facts.type) || !ask(CL_MEM_CONTEXT, facts.context) ||
        !ask(CL_MEM_SIZE, facts.bytes) || !ask(CL_MEM_FLAGS, facts.flags))
        throw transfer_error(status::invalid_mem_object, "the buffer is not a valid memory object");
    if (facts.type != CL_MEM_OBJECT_BUFFER)
        throw transfer_error(status::invalid_mem_object, "the memory object is an image or pipe, not a buffer");
    if (!ask(CL_MEM_ASSOCIATED_MEMOBJECT, facts.parent)) facts.parent = nullptr;
    if (facts.parent != nullptr && !ask(CL_MEM_OFFSET, facts.parent_offset)) facts.parent_offset = 0;
    return facts;
}

cl_context context_of(cl_event event) {
    cl_context context = nullptr;
    if (event == nullptr ||
        clGetEventInfo(event, CL_EVENT_CONTEXT, sizeof context, &context, nullptr) != CL_SUCCESS)
        throw transfer_error(status::invalid_event, "the event is not valid");
    return context;
}

cl_int status_of(cl_event event) {
    cl_int status = CL_QUEUED;
    const auto ask = [&] {
        return clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
    };
    // A failure to ask is not yet one of the event, whose command may still be under way.
    auto code = ask();
    if (code != CL_SUCCESS) code = ask();
    return code == CL_SUCCESS ? status : code;
}

bool is_command(cl_event event) {
    cl_command_type type = CL_COMMAND_USER;
    const auto code = clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof type, &type, nullptr);
    return code == CL_SUCCESS && type != CL_COMMAND_USER;
}

cl_uint references_of(cl_event event) {
    cl_uint count = 0;
    const auto code = clGetEventInfo(event, CL_EVENT_REFERENCE_COUNT, sizeof count, &count, nullptr);
    return code == CL_SUCCESS ? count : 0;
}

bool has_host_memory(cl_device_id device) {
    cl_bool unified = CL_FALSE;
    // Deprecated since 2.0, and still the only question that every implementation answers.
    const auto code =
        clGetDeviceInfo(device, CL_DEVICE_HOST_UNIFIED_MEMORY, sizeof unified, &unified, nullptr);
    return code == CL_SUCCESS && unified == CL_TRUE;
}

bool cannot_wait_for_user_events(cl_device_id device) {
    char name[256] = "";
    cl_platform_id platform = nullptr;
    if (clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, nullptr) != CL_SUCCESS) return false;
    if (!std::string_view(name).starts_with("basic")) return false;
    if (clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, nullptr) != CL_SUCCESS) return false;
    char vendor[256] = "";
    if (clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof vendor, vendor, nullptr) != CL_SUCCESS) return false;
    return std::string_view(vendor) == "Portable Computing Language";
}

} // namespace causeway::cl
