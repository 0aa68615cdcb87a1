// SPDX-License-Identifier: Apache-2.0
// Programs: one of each driver that has devices of the program.
#pragma once

#include "platform/context.hpp"

#include <string>
#include <vector>

struct _cl_program final : causeway::platform::object {
    static constexpr auto own_kind = causeway::platform::kind::program;

    /// The part of one driver context; its devices are those of the program there, in the program's order.
    struct part {
        causeway::platform::driver_object<cl_program> raw;
        std::vector<_cl_device_id*> devices;
        bool is_built = false; ///< for one of them, or linked
    };

    /// For `on`, which are devices of the context.
    _cl_program(_cl_context& of, std::vector<_cl_device_id*> on);

    [[nodiscard]] part& part_of(const causeway::platform::driver_context& at) { return parts[at.index]; }
    /// The first part that is built, or else there at all: it knows the kernels' names and arguments.
    [[nodiscard]] part& any_part();

    const causeway::platform::ref<_cl_context> context;
    const std::vector<causeway::platform::ref<_cl_device_id>> devices;
    std::string source;
    std::string il;
    std::string options;     ///< of the last build, as the program gave them
    int asked;               ///< the rank whose driver knows the kernels' names
    std::vector<part> parts; ///< one for each driver context; without a driver's program where there are no devices
};
