// SPDX-License-Identifier: Apache-2.0
// Programs: behind each, one program of every driver that has a device of it.
#pragma once

#include "platform/context.hpp"

#include <string>
#include <vector>

struct _cl_program final : causeway::platform::object {
    static constexpr auto own_kind = causeway::platform::kind::program;

    /// One driver context's program, and the devices that it was made for, in the program's order.
    struct part {
        causeway::platform::driver_object<cl_program> raw;
        std::vector<_cl_device_id*> devices;
        bool is_built = false; ///< for at least one device, or linked
    };

    /// `on` are devices of the context.
    _cl_program(_cl_context& of, std::vector<_cl_device_id*> on);

    [[nodiscard]] part& part_of(const causeway::platform::driver_context& at) { return parts[at.index]; }
    /// A part that knows the kernels' names and arguments: the first that is built, else the first that exists.
    [[nodiscard]] part& any_part();

    const causeway::platform::ref<_cl_context> context;
    const std::vector<causeway::platform::ref<_cl_device_id>> devices;
    std::string source;
    std::string il;
    std::string options;     ///< of the last build, as the program gave them
    int asked;               ///< the rank whose driver knows the kernels' names
    std::vector<part> parts; ///< by driver context; `raw` is null where the program has no device
};
