// SPDX-License-Identifier: Apache-2.0
// Symmetric device memory in the solver's context, and the offsets in the heap's buffer that kernels take for its
// addresses.
#pragma once

#include "common/opencl.hpp"

#include <cstddef>

namespace bt_mz {

/// One per process. Construction and destruction are collective over all ranks.
class device_heap {
  public:
    device_heap(cl_context context, cl_device_id device, std::size_t bytes);
    ~device_heap();
    device_heap(const device_heap&) = delete;
    device_heap& operator=(const device_heap&) = delete;
};

/// An address of the heap in the form that kernels take: the heap's buffer, and the index of a double in it.
struct buffer_location {
    cl_mem buffer;
    std::size_t first_value;
};
buffer_location location_of(const double* address);

} // namespace bt_mz
