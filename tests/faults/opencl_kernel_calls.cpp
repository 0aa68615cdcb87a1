// SPDX-License-Identifier: Apache-2.0
// Stands before the functions of OpenCL that make and run kernels, and makes kernels fail after they were enqueued.
#include "faults/point_lists.hpp"

#include <CL/cl.h>

#include <mutex>

using namespace faults;

namespace {

fault_point build{"clBuildProgram", layer::opencl, CL_BUILD_PROGRAM_FAILURE};
fault_point create_kernel{"clCreateKernel", layer::opencl, CL_OUT_OF_HOST_MEMORY};
fault_point create_program{"clCreateProgramWithSource", layer::opencl, CL_OUT_OF_HOST_MEMORY};
fault_point create_part{"clCreateSubBuffer", layer::opencl, CL_MEM_OBJECT_ALLOCATION_FAILURE};
fault_point fill{"clEnqueueFillBuffer", layer::opencl, CL_OUT_OF_RESOURCES};
fault_point run_kernel{"clEnqueueNDRangeKernel", layer::opencl, CL_OUT_OF_RESOURCES};
fault_point kernel_info{"clGetKernelInfo", layer::opencl, CL_OUT_OF_HOST_MEMORY};
fault_point set_argument{"clSetKernelArg", layer::opencl, CL_OUT_OF_HOST_MEMORY};

template <class Object> Object no_object(const fault_point& which, cl_int* code) {
    if (code != nullptr) *code = which.code;
    return nullptr;
}

std::mutex late_mutex; // guards all below
bool late_armed = false, late_pretended = false, late_chosen = false;
cl_event late_event = nullptr; // of the kernel that pretends
unsigned late_number = 0, late_seen = 0;
cl_event late_gate = nullptr;
std::vector<cl_event> late_before; // what the kernel waits for, and all before it in its queue

/// A gate for the kernel whose turn it is to fail late; null for all others.
cl_event gate_for(cl_command_queue queue, const std::vector<cl_event>& waits) {
    const std::lock_guard lock(late_mutex);
    late_chosen = late_armed && late_seen++ == late_number;
    if (!late_chosen || late_pretended) return nullptr;
    cl_context context = nullptr;
    clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, &context, nullptr);
    late_before = waits;
    for (auto* const each : waits) clRetainEvent(each);
    cl_event marker = nullptr;
    if (clEnqueueMarkerWithWaitList(queue, 0, nullptr, &marker) == CL_SUCCESS) late_before.push_back(marker);
    return late_gate = clCreateUserEvent(context, nullptr);
}

} // namespace

std::vector<fault_point*> faults::opencl_kernel_points() {
    return {&build, &create_kernel, &create_program, &create_part, &fill, &run_kernel, &kernel_info, &set_argument};
}

void faults::arm_late_failure(unsigned nth, bool pretended) {
    const std::lock_guard lock(late_mutex);
    late_armed = true;
    late_pretended = pretended;
    late_event = nullptr;
    late_number = nth;
    late_seen = 0;
}

bool faults::pretends_failure(const void* event) {
    const std::lock_guard lock(late_mutex);
    return late_event != nullptr && late_event == event;
}

bool faults::disarm_late_failure() {
    fail_late();
    const std::lock_guard lock(late_mutex);
    late_armed = false;
    late_event = nullptr;
    return late_seen > late_number;
}

void faults::fail_late() {
    cl_event failing = nullptr;
    std::vector<cl_event> before;
    {
        const std::lock_guard lock(late_mutex);
        std::swap(failing, late_gate);
        std::swap(before, late_before);
    }
    if (failing == nullptr) return;
    // A kernel that fails by itself does so after all that comes before it. PoCL would let what is behind it run at
    // once.
    for (auto* const each : before) {
        clWaitForEvents(1, &each);
        clReleaseEvent(each);
    }
    clSetUserEventStatus(failing, CL_OUT_OF_RESOURCES);
    clReleaseEvent(failing);
}

cl_int clBuildProgram(cl_program program, cl_uint count, const cl_device_id* devices, const char* options,
                      void(CL_CALLBACK* told)(cl_program, void*), void* argument) {
    if (build.fails(__builtin_return_address(0))) return build.code;
    return real<&clBuildProgram>(build)(program, count, devices, options, told, argument);
}

cl_kernel clCreateKernel(cl_program program, const char* name, cl_int* code) {
    if (create_kernel.fails(__builtin_return_address(0))) return no_object<cl_kernel>(create_kernel, code);
    return real<&clCreateKernel>(create_kernel)(program, name, code);
}

cl_program clCreateProgramWithSource(cl_context context, cl_uint count, const char** texts, const size_t* sizes,
                                     cl_int* code) {
    if (create_program.fails(__builtin_return_address(0))) return no_object<cl_program>(create_program, code);
    return real<&clCreateProgramWithSource>(create_program)(context, count, texts, sizes, code);
}

cl_mem clCreateSubBuffer(cl_mem buffer, cl_mem_flags flags, cl_buffer_create_type type, const void* info,
                         cl_int* code) {
    if (create_part.fails(__builtin_return_address(0))) return no_object<cl_mem>(create_part, code);
    return real<&clCreateSubBuffer>(create_part)(buffer, flags, type, info, code);
}

cl_int clEnqueueFillBuffer(cl_command_queue queue, cl_mem buffer, const void* pattern, size_t pattern_size,
                           size_t offset, size_t size, cl_uint count, const cl_event* list, cl_event* event) {
    if (fill.fails(__builtin_return_address(0))) return fill.code;
    return real<&clEnqueueFillBuffer>(fill)(queue, buffer, pattern, pattern_size, offset, size, count, list, event);
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t* offset,
                              const size_t* global, const size_t* local, cl_uint count, const cl_event* list,
                              cl_event* event) {
    if (run_kernel.fails(__builtin_return_address(0))) return run_kernel.code;
    std::vector<cl_event> waits(list, list + count);
    if (auto* const gate = gate_for(queue, waits)) waits.push_back(gate);
    const auto code = real<&clEnqueueNDRangeKernel>(run_kernel)(queue, kernel, dimensions, offset, global, local,
                                                                static_cast<cl_uint>(waits.size()),
                                                                waits.empty() ? nullptr : waits.data(), event);
    const std::lock_guard lock(late_mutex);
    if (late_chosen && late_pretended && event != nullptr) late_event = *event;
    late_chosen = false;
    return code;
}

cl_int clGetKernelInfo(cl_kernel kernel, cl_kernel_info name, size_t size, void* value, size_t* size_ret) {
    if (kernel_info.fails(__builtin_return_address(0))) return kernel_info.code;
    return real<&clGetKernelInfo>(kernel_info)(kernel, name, size, value, size_ret);
}

cl_int clSetKernelArg(cl_kernel kernel, cl_uint index, size_t size, const void* value) {
    if (set_argument.fails(__builtin_return_address(0))) return set_argument.code;
    return real<&clSetKernelArg>(set_argument)(kernel, index, size, value);
}
