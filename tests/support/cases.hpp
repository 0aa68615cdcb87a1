// SPDX-License-Identifier: Apache-2.0
// How many cases a test that draws them by chance takes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace support {

/// Of `all` cases the share in per cent that CAUSEWAY_TEST_SHARE asks for, at least one. Sanitizers, which take ten
/// times as long, are asked for fewer; a search for rare faults may ask for more.
inline std::uint64_t cases(std::uint64_t all) {
    const char* const asked = std::getenv("CAUSEWAY_TEST_SHARE");
    const std::uint64_t share = asked != nullptr ? std::strtoull(asked, nullptr, 10) : 100;
    return std::max<std::uint64_t>(1, all * share / 100);
}

} // namespace support
