// SPDX-License-Identifier: Apache-2.0
// One kernel for each data type and place, built when it is first needed.
#include "platform/reduction.hpp"

#include "platform/boundary.hpp"

#include <CL/cl_cluster.h>

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
    const auto* const found =
        std::find_if(data_types.begin(), data_types.end(), [&](const data_type& one) { return one.code == code; });
    require(found != data_types.end(), CL_INVALID_VALUE);
    return *found;
}

std::string source_for(const data_type& type) {
    const std::string name = type.name;
    const std::string pragma = type.code == CL_DOUBLE ? "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n" : "";
    // Devices without arithmetic on halves can load and store them.
    const std::string add = type.code == CL_HALF_FLOAT
                                ? "vstore_half(vload_half(i, first) + vload_half(i, second), i, sum);"
                                : "sum[i] = first[i] + second[i];";
    return pragma + "__kernel void add(__global const " + name + "* first, __global const " + name +
           "* second, __global " + name + "* sum) { const size_t i = get_global_id(0); " + add + " }";
}

cl_kernel kernel_for(place& at, const data_type& type) {
    auto& kernel = at.sums[type.code];
    if (kernel) return kernel.raw();
    const auto text = source_for(type);
    const char* const source = text.c_str();
    cl_int code = CL_SUCCESS;
    const driver_object<cl_program> program(
        at.calls().clCreateProgramWithSource(at.context.raw(), 1, const_cast<const char**>(&source), nullptr, &code));
    check(code);
    check(at.calls().clBuildProgram(program.raw(), 0, nullptr, "", nullptr, nullptr));
    kernel = driver_object<cl_kernel>(at.calls().clCreateKernel(program.raw(), "add", &code));
    check(code);
    return kernel.raw();
}

} // namespace

size_t element_size(cl_channel_type type) { return find(type).bytes; }

cl_int enqueue_sum(place& at, cl_command_queue queue, cl_channel_type type, cl_mem first, cl_mem second, cl_mem sum,
                   size_t bytes, cl_uint waits, const cl_event* list, cl_event* event) {
    const auto& of = find(type);
    const size_t items = bytes / of.bytes;
    const std::lock_guard lock(at.sums_mutex);
    auto* const kernel = kernel_for(at, of);
    const std::array<cl_mem, 3> arguments = {first, second, sum};
    for (cl_uint i = 0; i < arguments.size(); ++i)
        check(at.calls().clSetKernelArg(kernel, i, sizeof(cl_mem), &arguments[i]));
    return at.calls().clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &items, nullptr, waits, list, event);
}

} // namespace causeway::platform
