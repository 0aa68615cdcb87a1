// SPDX-License-Identifier: Apache-2.0
// The devices of the platform: those of all drivers, in one order.
#pragma once

#include "platform/driver.hpp"
#include "platform/object.hpp"

#include <algorithm>
#include <climits>
#include <map>
#include <span>
#include <string>
#include <vector>

struct _cl_platform_id final : causeway::platform::object {
    static constexpr auto own_kind = causeway::platform::kind::platform;
    _cl_platform_id() : object(own_kind) {}
};

struct _cl_device_id final : causeway::platform::object {
    static constexpr auto own_kind = causeway::platform::kind::device;

    _cl_device_id(const causeway::platform::driver& from, cl_device_id raw_device)
        : object(own_kind), driver(from), raw(raw_device) {}
    /// A sub-device of `whole`; owns `part`.
    _cl_device_id(_cl_device_id& whole, cl_device_id part)
        : object(own_kind), driver(whole.driver), raw(part), parent(&whole),
          owned(whole.driver.quirks.needs_released_parts ? nullptr : part) {}

    const causeway::platform::driver& driver;
    cl_device_id raw; ///< the driver's; null for a device of another rank
    /// clGetDeviceInfo results of a device of another rank, by name.
    std::map<cl_device_info, std::string> answers;
    causeway::platform::ref<_cl_device_id> parent;         ///< null for a root device
    causeway::platform::driver_object<cl_device_id> owned; ///< a sub-device's reference
};

namespace causeway::platform {

[[nodiscard]] _cl_platform_id& the_platform();

/// clGetDeviceInfo for a device of any rank.
[[nodiscard]] cl_int ask_device(const _cl_device_id& device, cl_device_info name, size_t size, void* value,
                                size_t* size_ret);
/// As above, by value; zero if the driver does not know `name`.
template <class Value> [[nodiscard]] Value ask(const _cl_device_id& device, cl_device_info name) {
    Value value{};
    (void)ask_device(device, name, sizeof value, &value, nullptr);
    return value;
}

/// Alignment of sub-buffers on a device, in bytes.
[[nodiscard]] inline size_t alignment_of(const _cl_device_id& device) {
    return std::max<size_t>(ask<cl_uint>(device, CL_DEVICE_MEM_BASE_ADDR_ALIGN) / CHAR_BIT, 1);
}

/// All root devices; in a cluster those of all ranks, in the same order on each. The first call loads the drivers; the
/// list never changes.
[[nodiscard]] std::span<_cl_device_id* const> all_devices();

} // namespace causeway::platform
