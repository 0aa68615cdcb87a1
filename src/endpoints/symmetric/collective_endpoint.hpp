// SPDX-License-Identifier: Apache-2.0
// Collectives: a source of the bytes that a PE gathers from all heaps once all PEs have come to the meeting.
#pragma once

#include "endpoints/symmetric/meeting.hpp"
#include "transfer/endpoint.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace causeway::endpoints {

/// A piece of a PE's heap. The PE that gathers puts pieces one behind the other.
struct heap_piece {
    int pe = 0;
    std::size_t offset = 0, bytes = 0;
};

/// What all PEs do in one collective command.
struct collective {
    meeting_purpose purpose; ///< of two meetings, before and after the gathering; of three with `compute`
    /// Returns the pieces that this PE gathers. Called once all PEs have come; met.value_of() has what each brought.
    std::function<std::vector<heap_piece>(const meeting_turn& met)> pieces;
    /// Copies part of a piece to `offset` of the target, then calls `then`. Null where this PE reads all heaps itself.
    std::function<void(const heap_piece& part, std::size_t offset, std::function<void(const failure&)> then)> bring;
    /// With three meetings: work of the device between the first and the second. Finishes `done`.
    std::function<void(transfer::step& done)> compute;
};

/// A source that opens with the bytes of all pieces together, and is closed once all PEs have read theirs.
[[nodiscard]] std::unique_ptr<transfer::endpoint> make_gathered_source(std::shared_ptr<heap> of, collective what);
/// The target of a source whose collective has `bring`.
[[nodiscard]] std::unique_ptr<transfer::endpoint> make_gathering_target();

} // namespace causeway::endpoints
