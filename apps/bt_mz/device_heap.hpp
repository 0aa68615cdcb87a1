// SPDX-License-Identifier: Apache-2.0
// Symmetric device memory in the solver's context, and where kernels find what lies in it.
#pragma once

#include "common/opencl.hpp"

#include <cstddef>

namespace bt_mz {

/// One per process. Collective to make, and to destroy.
class device_heap {
  public:
    device_heap(cl_context context, cl_device_id device, std::size_t bytes);
    ~device_heap();
    device_heap(const device_heap&) = delete;
    device_heap& operator=(const device_heap&) = delete;
};

/// What kernels take for an address of the heap.
struct heap_place {
    cl_mem buffer;
    std::size_t first_value;
};
heap_place place_of(const double* address);

} // namespace bt_mz
