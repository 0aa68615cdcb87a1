// SPDX-License-Identifier: Apache-2.0
// The bandwidth of a direct link between two GPUs by CUDA's plain copies: the limit for OpenCL.
#pragma once

#include <CL/cl.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace perf {

using device_uuid = std::array<std::uint8_t, 16>;

/// CL_DEVICE_UUID_KHR; zeros if not supported.
[[nodiscard]] device_uuid uuid_of(cl_device_id device);

/// Two GPUs that this process sees, and memory of each. CUDA is found at run time.
class direct_link {
  public:
    /// Null if CUDA, one of the devices, a link between them, or memory for `bytes` on each is missing.
    [[nodiscard]] static std::unique_ptr<direct_link> between(const device_uuid& one, const device_uuid& other,
                                                              std::size_t bytes);
    /// As between(), for two buffers of one device. Null if there is no CUDA, no such device or no memory.
    [[nodiscard]] static std::unique_ptr<direct_link> within(const device_uuid& device, std::size_t bytes);
    virtual ~direct_link() = default;
    /// Copies `bytes` from the first to the second. Blocks. Throws std::runtime_error.
    virtual void copy() = 0;
    virtual void copy_both_ways() = 0;
};

} // namespace perf
