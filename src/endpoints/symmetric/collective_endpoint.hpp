// SPDX-License-Identifier: Apache-2.0
// Bytes that a PE gathers from the heaps of all once all are there, as an endpoint.
#pragma once

#include "endpoints/symmetric/meeting.hpp"
#include "transfer/endpoint.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace causeway::endpoints {

/// So many bytes of a PE's heap; they follow one another in the PE that gathers.
struct heap_piece {
    int pe = 0;
    std::size_t offset = 0, bytes = 0;
};

/// What all PEs do in one collective command.
struct collective {
    meeting_purpose purpose; ///< of so many meetings as it needs: one before, one behind, and one more behind `compute`
    /// What this PE gathers, and where: asked once all have come, and may then ask what they brought.
    std::function<std::vector<heap_piece>(const meeting_turn& met)> pieces;
    std::size_t target_offset = 0;
    /// Between the first meeting and the next, if it has three: done by the device. Finishes its step.
    std::function<void(transfer::step& done)> compute;
};

/// The two ends of its flow. The flow has as many bytes as the pieces, or `most`, if that is only known then.
struct collective_ends {
    std::unique_ptr<transfer::endpoint> source, target;
};
[[nodiscard]] collective_ends make_collective(const std::shared_ptr<heap>& of, collective what);

} // namespace causeway::endpoints
