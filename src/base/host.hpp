// SPDX-License-Identifier: Apache-2.0
// Which machine this is.
#pragma once

#include <cstdint>
#include <string>

namespace causeway {

/// The same text in all processes of this machine, another one on other machines and after the next boot.
[[nodiscard]] std::string host_identity();
/// A hash of that: equal for all processes with the same monotonic clock, in any job.
[[nodiscard]] std::uint64_t host_number();

} // namespace causeway
