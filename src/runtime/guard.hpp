// SPDX-License-Identifier: Apache-2.0
// The C boundary: turns exceptions into codes, and keeps their texts for the calling thread.
#pragma once

#include "base/error.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace causeway::core {

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

/// Copies at most `size` bytes of `from`, always terminated, if there is somewhere to copy to; returns the length of
/// the whole.
inline long give_text(std::string_view from, char* to, std::size_t size) {
    if (to != nullptr && size > 0) to[from.copy(to, size - 1)] = '\0';
    return static_cast<long>(from.size());
}

} // namespace causeway::core
