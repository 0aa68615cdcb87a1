// SPDX-License-Identifier: Apache-2.0
// Device memory from Vulkan, the one interface whose exported memory NVIDIA's OpenCL imports.
#pragma once

#include "bridge/device_bridge.hpp"

namespace causeway::bridge {

/// Memory of one device. Freed once this object and all descriptors and imports of the memory are gone.
class exported_memory {
  public:
    virtual ~exported_memory() = default;
    [[nodiscard]] virtual std::size_t bytes() const = 0;
    /// A new descriptor. Throws transfer_error.
    [[nodiscard]] virtual descriptor share() const = 0;
};

/// One thread at a time.
class vulkan_memory {
  public:
    virtual ~vulkan_memory() = default;
    [[nodiscard]] virtual bool has(const device_uuid& device) const = 0;
    /// `bytes` rounded up to whole units of 2 MiB, in which CUDA maps memory.
    [[nodiscard]] static constexpr std::size_t rounded(std::size_t bytes) {
        constexpr auto unit = std::size_t{2} << 20;
        return (bytes + unit - 1) / unit * unit;
    }
    /// Memory of rounded(bytes) bytes, uninitialised. Throws transfer_error.
    [[nodiscard]] virtual std::unique_ptr<exported_memory> allocate(const device_uuid& device, std::size_t bytes) = 0;
};

/// Throws transfer_error if no library of Vulkan is there that knows devices which export memory.
[[nodiscard]] std::unique_ptr<vulkan_memory> make_vulkan_memory();

} // namespace causeway::bridge
