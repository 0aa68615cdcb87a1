// SPDX-License-Identifier: Apache-2.0
// Whether the ranks' fields fit into the memory of their devices.
#pragma once

#include "common/opencl.hpp"

#include <cstddef>

namespace bt_mz {

/// What a rank's buffers take on its device.
struct memory_need {
    std::size_t bytes, largest_buffer;
};

/// Throws std::runtime_error if the device computes no doubles, has too little memory for all ranks that share it, or
/// gives no buffer that is large enough. `index` tells devices of a node apart that have no UUID. Collective.
void check_device(cl_context context, cl_device_id device, std::size_t index, memory_need need);

} // namespace bt_mz
