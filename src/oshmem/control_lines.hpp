// SPDX-License-Identifier: Apache-2.0
// Layout of a PE's control memory: cache lines by which the PEs tell each other their state.
#pragma once

#include "comm/shared_segment.hpp"
#include "oshmem/job.hpp"

#include <cstddef>
#include <cstdint>
#include <exception>

namespace causeway::oshmem {

inline constexpr std::size_t line = 64; // bytes of a cache line

struct control_line {
    alignas(line) std::byte bytes[line];
};
/// The lines of a PE, in this order: its state, written by itself; one for each PE, written by that PE; lines_of_slot
/// for each team slot.
inline constexpr std::size_t state_line = 0, first_token = 1, lines_of_slot = 24;
/// Words of the state: whether the PE has passed the barrier of shmem_finalize, whether it waits, whether it has ended
/// all PEs. Words of another PE's line: that PE's token in barriers of active sets, and whether it has begun to end.
inline constexpr std::size_t has_met_word = 0, waits_word = 1, ends_all_word = 2, token_word = 0, leaves_word = 1;
/// Behind the state's words: the name of the MPI call in which the PE waits, if it does.
inline constexpr std::size_t call_offset = 3 * sizeof(std::uint64_t), longest_call = line - call_offset;
/// waits_word is 0 if the PE does not wait. Else it has the number of the wait above this bit, and below it the number
/// of times that the wait has looked at the other PEs.
inline constexpr unsigned wait_number_shift = 32;
/// Without MPI, a PE that ends all PEs sets ends_all_word to this bit and the exit status; it is 0 before that.
inline constexpr std::uint64_t ends_all = std::uint64_t{1} << 32;
/// The lines of a slot: its note, its loans, the number offered for a new slot, a token for each round of a barrier.
inline constexpr std::size_t note_line = 0, first_loan_line = 1, offer_line = 3, first_round_line = 4;
static_assert(sizeof(comm::segment_address) <= line);

inline std::uint64_t* word_of(void* line, std::size_t word) { return static_cast<std::uint64_t*>(line) + word; }

/// Numbers of the parts of a PE's memory, in messages.
inline constexpr std::uint32_t heap_part = 0, globals_part = 1, control_part = 2, first_lent_part = 16;

/// Returns what `call` does. Ends the job, naming `name`, if it throws.
template <class Call> auto or_end(const char* name, Call call) {
    try {
        return call();
    } catch (const std::exception& error) {
        give_up(name, error.what());
    }
}

} // namespace causeway::oshmem
