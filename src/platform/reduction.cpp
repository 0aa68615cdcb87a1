// SPDX-License-Identifier: Apache-2.0
// One kernel for each data type, operator and driver context, built when it is first needed.
#include "platform/reduction.hpp"

#include "platform/boundary.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace causeway::platform {

namespace {

struct data_type {
    cl_channel_type code;
    size_t bytes;
    const char* name; ///< in the language of kernels
};

constexpr std::array<data_type, 9> data_types = {{{CL_SIGNED_INT8, 1, "char"},
                                                  {CL_UNSIGNED_INT8, 1, "uchar"},
                                                  {CL_SIGNED_INT16, 2, "short"},
                                                  {CL_UNSIGNED_INT16, 2, "ushort"},
                                                  {CL_SIGNED_INT32, 4, "int"},
                                                  {CL_UNSIGNED_INT32, 4, "uint"},
                                                  {CL_HALF_FLOAT, 2, "half"},
                                                  {CL_FLOAT, 4, "float"},
                                                  {CL_DOUBLE, 8, "double"}}};

const data_type& find(cl_channel_type code) {
    const auto* const found = std::find_if(data_types.begin(), data_types.end(),
                                           [&](const data_type& one) { return one.code == code; });
    require(found != data_types.end(), CL_INVALID_VALUE);
    return *found;
}

bool is_integer(const data_type& type) {
    return type.code != CL_HALF_FLOAT && type.code != CL_FLOAT && type.code != CL_DOUBLE;
}

/// Of a and b, in the language of kernels; empty for what the type does not have.
std::string expression_for(const data_type& type, cl_reduction_op op) {
    const bool whole = is_integer(type);
    switch (op) {
    case CL_REDUCTION_SUM: return "a + b";
    case CL_REDUCTION_PRODUCT: return "a * b";
    case CL_REDUCTION_MIN: return whole ? "min(a, b)" : "fmin(a, b)";
    case CL_REDUCTION_MAX: return whole ? "max(a, b)" : "fmax(a, b)";
    case CL_REDUCTION_AND: return whole ? "a & b" : "";
    case CL_REDUCTION_OR: return whole ? "a | b" : "";
    case CL_REDUCTION_XOR: return whole ? "a ^ b" : "";
    default: return "";
    }
}

std::string source_for(const data_type& type, cl_reduction_op op) {
    const std::string name = type.name;
    const bool is_half = type.code == CL_HALF_FLOAT; // devices without arithmetic on halves can load and store them
    const std::string value = is_half ? "float" : name;
    const auto load = [&](const std::string& from) { return is_half ? "vload_half(i, " + from + ")" : from + "[i]"; };
    const std::string pragma = type.code == CL_DOUBLE ? "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n" : "";
    const std::string combined = expression_for(type, op);
    return pragma + "__kernel void combine(__global const " + name + "* first, __global const " + name +
           "* second, __global " + name + "* result) { const size_t i = get_global_id(0); const " + value +
           " a = " + load("first") + ", b = " + load("second") + "; " +
           (is_half ? "vstore_half(" + combined + ", i, result);" : "result[i] = " + combined + ";") + " }";
}

/// With the driver context's mutex held.
cl_kernel kernel_for(driver_context& at, const data_type& type, cl_reduction_op op) {
    auto& kernel = at.reductions[{type.code, op}];
    if (kernel) return kernel.raw();
    const auto text = source_for(type, op);
    const char* const source = text.c_str();
    cl_int code = CL_SUCCESS;
    const driver_object<cl_program> program(
        at.calls().clCreateProgramWithSource(at.context.raw(), 1, const_cast<const char**>(&source), nullptr, &code));
    check(code);
    check(at.calls().clBuildProgram(program.raw(), 0, nullptr, "", nullptr, nullptr));
    kernel = driver_object<cl_kernel>(at.calls().clCreateKernel(program.raw(), "combine", &code));
    check(code);
    return kernel.raw();
}

} // namespace

void check_reduction(const reduction& what, const _cl_context& context) {
    const auto& type = find(what.elements);
    if (what.op == CL_REDUCTION_KERNEL) {
        require(static_cast<bool>(what.kernel), CL_INVALID_KERNEL);
        require(what.kernel->context.get() == &context, CL_INVALID_CONTEXT);
        require(what.kernel->argument_count() == 3, CL_INVALID_KERNEL_ARGS);
        for (cl_uint i = 0; i < 3; ++i) require(what.kernel->may_take_memory(i), CL_INVALID_KERNEL_ARGS);
        return;
    }
    require(!what.kernel, CL_INVALID_KERNEL);
    require(!expression_for(type, what.op).empty(), CL_INVALID_VALUE);
    if (what.elements != CL_DOUBLE) return;
    // Where one of the operands is: on any device of the context, on any rank.
    for (const auto& device : context.devices)
        require(ask<cl_device_fp_config>(*device, CL_DEVICE_DOUBLE_FP_CONFIG) != 0, CL_INVALID_VALUE);
}

size_t element_size(const reduction& what) { return find(what.elements).bytes; }

cl_int enqueue_reduction(driver_context& at, cl_command_queue queue, const reduction& what, cl_mem first, cl_mem second,
                         cl_mem result, size_t bytes, cl_uint waits, const cl_event* list, cl_event* event) {
    const auto& type = find(what.elements);
    const size_t items = bytes / type.bytes;
    const auto enqueue_with = [&](cl_kernel kernel) {
        const std::array<cl_mem, 3> arguments = {first, second, result};
        for (cl_uint i = 0; i < arguments.size(); ++i)
            check(at.calls().clSetKernelArg(kernel, i, sizeof(cl_mem), &arguments[i]));
        return at.calls().clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &items, nullptr, waits, list, event);
    };
    if (what.kernel) return enqueue_with(what.kernel->another(at).raw());
    const std::lock_guard lock(at.reductions_mutex);
    return enqueue_with(kernel_for(at, type, what.op));
}

} // namespace causeway::platform
