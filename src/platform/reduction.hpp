// SPDX-License-Identifier: Apache-2.0
// Combines buffers element by element, by a kernel of the driver.
#pragma once

#include "platform/kernel.hpp"

#include <CL/cl_cluster.h>

namespace causeway::platform {

struct reduction {
    cl_channel_type elements;
    cl_reduction_op op = CL_REDUCTION_SUM;
    ref<_cl_kernel> kernel = {}; ///< the program's, for CL_REDUCTION_KERNEL
};

/// Throws an OpenCL code for an unknown type or operator, a kernel that does not fit the operator, or a type that a
/// device of the context does not support.
void check_reduction(const reduction& what, const _cl_context& context);

/// Bytes of an element.
[[nodiscard]] size_t element_size(const reduction& what);

/// Enqueues result = first op second on a queue of `at`. All handles are those of its driver.
[[nodiscard]] cl_int enqueue_reduction(driver_context& at, cl_command_queue queue, const reduction& what, cl_mem first,
                                       cl_mem second, cl_mem result, size_t bytes, cl_uint waits, const cl_event* list,
                                       cl_event* event);

} // namespace causeway::platform
