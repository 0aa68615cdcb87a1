// SPDX-License-Identifier: Apache-2.0
// The options of the platform.
#pragma once

#include "base/options.hpp"

#include <unistd.h>

namespace causeway::platform {

/// As the environment was at the first call.
[[nodiscard]] inline const options& settings() {
    static const auto& all = []() -> options& {
        auto& made = *new options; // threads of drivers outlive static objects
        made.read_environment(environ, option_reader::platform);
        return made;
    }();
    return all;
}

} // namespace causeway::platform
