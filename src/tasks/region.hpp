// SPDX-License-Identifier: Apache-2.0
// A memory range that a task declares that it uses.
#pragma once

#include <cstddef>
#include <cstdint>

namespace causeway::tasks {

/// `footprint` only tells the policy where the bytes are; it makes no dependence.
enum class access : std::uint8_t { footprint = 0, in = 1, out = 2, inout = 3 };

struct region {
    std::uintptr_t begin = 0;
    std::uint64_t bytes = 0;
    access how = access::footprint;
    bool most_used = false;

    [[nodiscard]] bool orders() const { return how != access::footprint; }
    [[nodiscard]] bool writes() const { return (static_cast<unsigned>(how) & 2u) != 0; }
};

} // namespace causeway::tasks
