// SPDX-License-Identifier: Apache-2.0
// PoCL's devices, by their names.
#pragma once

#include <string_view>

namespace causeway {

/// Whether a device runs commands inside the enqueue, so that none can wait for a user event: the single-threaded one
/// of PoCL, "basic", which PoCL 4 has renamed "cpu-minimal". `platform`, `device`: what OpenCL names them.
[[nodiscard]] constexpr bool runs_inside_enqueue(std::string_view platform, std::string_view device) {
    return platform == "Portable Computing Language" &&
           (device.starts_with("basic") || device.starts_with("cpu-minimal"));
}

} // namespace causeway
