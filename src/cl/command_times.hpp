// SPDX-License-Identifier: Apache-2.0
// What the event of a command tells about it.
#pragma once

#include "cl/handles.hpp"

#include <cstdint>
#include <string_view>

namespace causeway::cl {

/// Times are the device's nanoseconds; 0 if the queue does not profile or the command is not complete.
struct command_times {
    std::string_view name; ///< "kernel", "read buffer", "marker"; empty for a user event or one that cannot be asked
    cl_command_queue queue = nullptr;
    std::string_view resource; ///< the device, as device_facts identify it
    std::uint64_t queued = 0, submitted = 0, started = 0, ended = 0;
};

[[nodiscard]] command_times times_of(cl_event event);

} // namespace causeway::cl
