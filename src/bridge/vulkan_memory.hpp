// SPDX-License-Identifier: Apache-2.0
// Device memory from Vulkan, the one interface whose exported memory NVIDIA's OpenCL imports.
#pragma once

#include "bridge/device_bridge.hpp"

namespace causeway::bridge {

/// Memory of one device; freed with this object, but for those that hold a descriptor or an import of it.
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
    /// To whole units, as CUDA maps them.
    [[nodiscard]] static constexpr std::size_t rounded(std::size_t bytes) {
        constexpr auto unit = std::size_t{2} << 20;
        return (bytes + unit - 1) / unit * unit;
    }
    /// rounded() ones, uninitialised. Throws transfer_error.
    [[nodiscard]] virtual std::unique_ptr<exported_memory> allocate(const device_uuid& device, std::size_t bytes) = 0;
};

/// Throws transfer_error if no library of Vulkan is there that knows devices which export memory.
[[nodiscard]] std::unique_ptr<vulkan_memory> make_vulkan_memory();

} // namespace causeway::bridge
