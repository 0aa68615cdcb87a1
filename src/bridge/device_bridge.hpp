// SPDX-License-Identifier: Apache-2.0
// Device memory that OpenCL and a vendor's other interfaces reach at once, and copies over links that OpenCL does not
// use.
#pragma once

#include "base/descriptor.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace causeway::bridge {

/// What names a device in all interfaces: CL_DEVICE_UUID_KHR, VkPhysicalDeviceIDProperties::deviceUUID,
/// cuDeviceGetUuid().
using device_uuid = std::array<std::uint8_t, 16>;

/// A piece of device memory that every interface reaches. Freed with this object; nobody may be using it then.
class window {
  public:
    virtual ~window() = default;
    /// An address for begin_copy(); only with host_memory() may the host touch it. No other memory of the process has
    /// it.
    [[nodiscard]] virtual std::byte* address() const = 0;
    [[nodiscard]] virtual std::size_t bytes() const = 0;
    /// Names the memory to OpenCL (cl_khr_external_memory_opaque_fd) and to other processes. Throws transfer_error.
    [[nodiscard]] virtual descriptor share() const = 0;
};

/// One copy of begin_copy().
using copy_number = std::uint32_t;
enum class copy_state { running, done, failed };

/// The vendor's interfaces beside OpenCL; outlives its windows. One thread at a time.
class device_bridge {
  public:
    virtual ~device_bridge() = default;
    /// "CUDA 13.0 and Vulkan", for explanations.
    [[nodiscard]] virtual std::string name() const = 0;
    [[nodiscard]] virtual bool has(const device_uuid& device) const = 0;
    /// Prepares copies by `device`, which takes a while. Throws transfer_error.
    virtual void start(const device_uuid& device) { (void)device; }
    /// Whether `from` writes to windows of `to` over a direct link. False for one device: OpenCL copies within it.
    [[nodiscard]] virtual bool reaches(const device_uuid& from, const device_uuid& to) const = 0;
    /// True if windows are host memory: OpenCL uses them at their address, not by descriptor.
    [[nodiscard]] virtual bool host_memory() const { return false; }
    /// Bytes of device memory that a window of `bytes` takes.
    [[nodiscard]] virtual std::size_t rounded(std::size_t bytes) const = 0;
    /// A window of rounded(bytes). Throws transfer_error.
    [[nodiscard]] virtual std::unique_ptr<window> create(const device_uuid& device, std::size_t bytes) = 0;
    /// A window of `bytes` that another process, or another device of this one, has shared. Throws transfer_error.
    [[nodiscard]] virtual std::unique_ptr<window> open(const device_uuid& device, descriptor shared,
                                                       std::size_t bytes) = 0;
    /// Device `by` copies between two windows. Returns at once. Throws transfer_error.
    [[nodiscard]] virtual copy_number begin_copy(const device_uuid& by, std::byte* to, const std::byte* from,
                                                 std::size_t bytes) = 0;
    /// The state of a copy. Do not ask again once it is done or has failed.
    [[nodiscard]] virtual copy_state look(copy_number which) = 0;
};

/// NVIDIA's: Vulkan allocates, CUDA copies. Takes up to a second. Throws transfer_error with what is missing.
[[nodiscard]] std::unique_ptr<device_bridge> make_nvidia_bridge();

/// A bridge for tests without a GPU: its windows are host memory. Slower than such devices' own copies.
[[nodiscard]] std::unique_ptr<device_bridge> make_host_bridge();

} // namespace causeway::bridge
