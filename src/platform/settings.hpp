// SPDX-License-Identifier: Apache-2.0
// The platform's options, from the environment.
#pragma once

#include "base/options.hpp"

#include <unistd.h>

namespace causeway::platform {

/// Read once, at the first call. Never destroyed.
[[nodiscard]] inline const options& settings() {
    static const auto& all = []() -> options& {
        auto& made = *new options; // threads of drivers outlive static objects
        made.read_environment(environ, option_reader::platform);
        return made;
    }();
    return all;
}

} // namespace causeway::platform
