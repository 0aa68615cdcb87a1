// SPDX-License-Identifier: Apache-2.0
// The C boundary: exceptions become codes, their texts stay for the asking thread.
#pragma once

#include "base/error.hpp"

#include <string>
#include <utility>

namespace causeway::capi {

/// The text of the calling thread's last refused call.
[[nodiscard]] std::string& last_message();

/// Runs `action`, which returns a code; what it throws becomes the code.
template <class Action> int guard(Action action) noexcept {
    try {
        return action();
    } catch (...) {
        auto refused = current_failure();
        last_message() = std::move(refused.message);
        return refused.status;
    }
}

} // namespace causeway::capi
