// SPDX-License-Identifier: Apache-2.0
// The devices of the platform: those of all drivers, in one order.
#pragma once

#include "platform/driver.hpp"
#include "platform/object.hpp"

#include <span>
#include <vector>

struct _cl_platform_id final : causeway::platform::object {
    static constexpr auto own_kind = causeway::platform::kind::platform;
    _cl_platform_id() : object(own_kind) {}
};

struct _cl_device_id final : causeway::platform::object {
    static constexpr auto own_kind = causeway::platform::kind::device;

    _cl_device_id(const causeway::platform::driver& from, cl_device_id raw_device) : object(own_kind), driver(from), raw(raw_device) {}
    /// A part of `whole`; owns `part`.
    _cl_device_id(_cl_device_id& whole, cl_device_id part)
        : object(own_kind), driver(whole.driver), raw(part), parent(&whole), owned(part) {}

    const causeway::platform::driver& driver;
    cl_device_id raw; ///< the driver's
    causeway::platform::ref<_cl_device_id> parent; ///< null for a whole device
    causeway::platform::driver_object<cl_device_id> owned; ///< a part's
};

namespace causeway::platform {

[[nodiscard]] _cl_platform_id& the_platform();

/// Whole devices. The first call loads the drivers; the list never changes.
[[nodiscard]] std::span<_cl_device_id* const> all_devices();

} // namespace causeway::platform
