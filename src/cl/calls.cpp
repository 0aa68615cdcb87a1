// SPDX-License-Identifier: Apache-2.0
// Asks OpenCL objects about themselves.
#include "cl/calls.hpp"

#include "base/error.hpp"
#include "cl/external_memory.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <string_view>
#include <vector>

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
    case CL_BUILD_PROGRAM_FAILURE: name = "CL_BUILD_PROGRAM_FAILURE"; break;
    case CL_INVALID_BINARY: name = "CL_INVALID_BINARY"; break;
    case CL_INVALID_KERNEL_NAME: name = "CL_INVALID_KERNEL_NAME"; break;
    case CL_INVALID_KERNEL: name = "CL_INVALID_KERNEL"; break;
    case CL_INVALID_ARG_VALUE: name = "CL_INVALID_ARG_VALUE"; break;
    case CL_INVALID_ARG_SIZE: name = "CL_INVALID_ARG_SIZE"; break;
    case CL_INVALID_KERNEL_ARGS: name = "CL_INVALID_KERNEL_ARGS"; break;
    case CL_INVALID_WORK_DIMENSION: name = "CL_INVALID_WORK_DIMENSION"; break;
    case CL_INVALID_WORK_GROUP_SIZE: name = "CL_INVALID_WORK_GROUP_SIZE"; break;
    case CL_INVALID_WORK_ITEM_SIZE: name = "CL_INVALID_WORK_ITEM_SIZE"; break;
    case CL_INVALID_GLOBAL_WORK_SIZE: name = "CL_INVALID_GLOBAL_WORK_SIZE"; break;
    default: break;
    }
    return std::string(name) + " (" + std::to_string(code) + ")";
}

void check(cl_int code, std::string_view what) {
    if (code != CL_SUCCESS) throw transfer_error(code, std::string(what) + ": " + code_text(code));
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
    return facts;
}

root_location root_of(cl_mem buffer) {
    root_location location;
    const auto ask = [&](cl_mem_info name, auto& value) {
        return clGetMemObjectInfo(buffer, name, sizeof value, &value, nullptr) == CL_SUCCESS;
    };
    if (!ask(CL_MEM_ASSOCIATED_MEMOBJECT, location.root) || location.root == nullptr) return {buffer, 0};
    if (!ask(CL_MEM_OFFSET, location.offset)) location.offset = 0;
    return location;
}

cl_context context_of(cl_event event) {
    cl_context context = nullptr;
    if (event == nullptr || clGetEventInfo(event, CL_EVENT_CONTEXT, sizeof context, &context, nullptr) != CL_SUCCESS)
        throw transfer_error(status::invalid_event, "the event is not valid");
    return context;
}

queue make_queue(cl_context context, cl_device_id device) {
    cl_int code = CL_SUCCESS;
    auto made = queue::adopt(clCreateCommandQueue(context, device, 0, &code));
    check(code, "creating a command queue for transfers");
    return made;
}

bool has_device(cl_context context, cl_device_id device) {
    std::size_t bytes = 0;
    if (context == nullptr || clGetContextInfo(context, CL_CONTEXT_DEVICES, 0, nullptr, &bytes) != CL_SUCCESS)
        throw transfer_error(status::invalid_context, "the context is not valid");
    std::vector<cl_device_id> devices(bytes / sizeof(cl_device_id));
    check(clGetContextInfo(context, CL_CONTEXT_DEVICES, bytes, devices.data(), nullptr),
          "asking for a context's devices");
    return std::find(devices.begin(), devices.end(), device) != devices.end();
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

cl_int mark(cl_command_queue queue, cl_event* mark) { return clEnqueueBarrierWithWaitList(queue, 0, nullptr, mark); }

cl_uint references_of(cl_event event) {
    cl_uint count = 0;
    const auto code = clGetEventInfo(event, CL_EVENT_REFERENCE_COUNT, sizeof count, &count, nullptr);
    return code == CL_SUCCESS ? count : 0;
}

namespace {

template <class Value> bool ask(cl_device_id device, cl_device_info name, Value& value) {
    return clGetDeviceInfo(device, name, sizeof value, &value, nullptr) == CL_SUCCESS;
}

/// Sub-devices, which are asked again and again, share their text.
std::string_view interned(std::string text) {
    static std::mutex mutex; // guards texts
    static auto& texts = *new std::set<std::string>; // threads may ask while the process ends
    const std::lock_guard lock(mutex);
    return *texts.insert(std::move(text)).first;
}

device_facts ask_facts(cl_device_id device) {
    device_facts facts;
    cl_bool unified = CL_FALSE;
    // Deprecated since 2.0, and still the only question that every implementation answers.
    facts.host_memory = ask(device, CL_DEVICE_HOST_UNIFIED_MEMORY, unified) && unified == CL_TRUE;
    char vendor[256] = "", name[256] = "";
    if (!ask(device, CL_DEVICE_PLATFORM, facts.platform) || !ask(device, CL_DEVICE_NAME, name) ||
        clGetPlatformInfo(facts.platform, CL_PLATFORM_NAME, sizeof vendor, vendor, nullptr) != CL_SUCCESS)
        return facts;
    constexpr cl_device_info device_uuid = 0x106A; // CL_DEVICE_UUID_KHR
    if (!ask(device, device_uuid, facts.uuid)) facts.uuid = {};
    facts.imports_memory = static_cast<bool>(external_memory(device));
    char driver[256] = "";
    (void)clGetDeviceInfo(device, CL_DRIVER_VERSION, sizeof driver, driver, nullptr);
    facts.identity = interned(std::string(name) + ", " + vendor + " " + driver);
    static_cast<driver_quirks&>(facts) = quirks_of(vendor);
    cl_device_type kind = 0;
    const bool is_cpu = ask(device, CL_DEVICE_TYPE, kind) && (kind & CL_DEVICE_TYPE_CPU) != 0;
    cl_device_exec_capabilities runs = 0;
    facts.has_native_kernels_for_markers = is_cpu && facts.has_slow_markers &&
                                           ask(device, CL_DEVICE_EXECUTION_CAPABILITIES, runs) &&
                                           (runs & CL_EXEC_NATIVE_KERNEL) != 0;
    facts.keeps_addresses = facts.keeps_addresses && facts.host_memory && is_cpu;
    facts.waits_for_user_events = !runs_inside_enqueue(vendor, name);
    return facts;
}

} // namespace

device_facts facts_of(cl_device_id device) {
    static std::mutex mutex; // guards known
    static auto& known = *new std::map<cl_device_id, device_facts>; // threads may ask while the process ends
    {
        const std::lock_guard lock(mutex);
        if (const auto found = known.find(device); found != known.end()) return found->second;
    }
    const auto facts = ask_facts(device);
    cl_device_id parent = nullptr;
    // The handle of a sub-device may be another's later.
    if (ask(device, CL_DEVICE_PARENT_DEVICE, parent) && parent == nullptr) {
        const std::lock_guard lock(mutex);
        known.emplace(device, facts);
    }
    return facts;
}

} // namespace causeway::cl
