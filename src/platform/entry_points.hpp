// SPDX-License-Identifier: Apache-2.0
// The functions in the dispatch table's slots, with OpenCL's own types. In a namespace: plain names would be interposed
// by the loader's.
#pragma once

#include "platform/opencl.hpp"

#include <CL/cl_cluster.h>

#include <type_traits>

namespace causeway::platform::entry {

#define CAUSEWAY_ENTRY(name) std::remove_pointer_t<decltype(cl_icd_dispatch::name)> name;
#define CAUSEWAY_REFUSED(name, code)
#include "platform/entry_points.def"
#undef CAUSEWAY_ENTRY
#undef CAUSEWAY_REFUSED

} // namespace causeway::platform::entry

namespace causeway::platform {

/// clAttachBufferToDevice of CL/cl_cluster.h.
cl_int CL_API_CALL attach_buffer_to_device(cl_mem buffer, cl_device_id device);

// The collective commands of CL/cl_cluster.h.
std::remove_pointer_t<clEnqueueBroadcastBuffer_fn> enqueue_broadcast, enqueue_scatter;
std::remove_pointer_t<clEnqueueGatherBuffer_fn> enqueue_gather;
std::remove_pointer_t<clEnqueueAllGatherBuffer_fn> enqueue_all_gather, enqueue_all_to_all;
std::remove_pointer_t<clEnqueueReduceBuffer_fn> enqueue_reduce;
std::remove_pointer_t<clEnqueueAllReduceBuffer_fn> enqueue_all_reduce, enqueue_reduce_scatter, enqueue_scan;
std::remove_pointer_t<clEnqueueReduceBufferWithOp_fn> enqueue_reduce_with_op;
std::remove_pointer_t<clEnqueueAllReduceBufferWithOp_fn> enqueue_all_reduce_with_op, enqueue_reduce_scatter_with_op,
    enqueue_scan_with_op;

} // namespace causeway::platform
