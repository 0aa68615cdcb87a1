// SPDX-License-Identifier: Apache-2.0
// Counts what the calling thread takes from the heap.
#pragma once

#include <cstddef>

namespace unit {

/// Allocations by operator new in this thread; none are counted under sanitizers, which have their own.
[[nodiscard]] std::size_t allocations();
[[nodiscard]] bool counts_allocations();

} // namespace unit
