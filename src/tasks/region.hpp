// SPDX-License-Identifier: Apache-2.0
// What a task says of the memory that it works on.
#pragma once

#include <cstddef>
#include <cstdint>

namespace causeway::tasks {

/// `footprint` says where the bytes are, and orders nothing.
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
