// SPDX-License-Identifier: Apache-2.0
// The program's global and static variables, in memory that other processes can map.
#pragma once

#include "comm/shared_segment.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace causeway::oshmem {

/// Its memory stays in place until the process ends. A child of fork() has its own copy.
struct shared_globals {
    std::uintptr_t first = 0;
    std::size_t bytes = 0; ///< 0 if the program has none
    /// Mapped at `first`, not at memory->memory(). Never deleted: others' memory may lie there by now.
    comm::shared_segment* memory = nullptr;
};

/// Moves the variables into shared memory at their own addresses. The first call, when the program is loaded and before
/// main() and its threads, does so; later ones return its result. Throws transfer_error, and then nothing has changed.
shared_globals& share_globals();

} // namespace causeway::oshmem
