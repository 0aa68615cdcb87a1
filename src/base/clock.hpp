// SPDX-License-Identifier: Apache-2.0
// The host's monotonic clock, behind an interface so that tests can move it by hand.
#pragma once

#include <chrono>

namespace causeway {

using time_point = std::chrono::steady_clock::time_point;

class monotonic_clock {
  public:
    virtual ~monotonic_clock() = default;
    [[nodiscard]] virtual time_point now() const { return std::chrono::steady_clock::now(); }
};

} // namespace causeway
