// SPDX-License-Identifier: Apache-2.0
// How PEs lay out the memory in which they tell one another how they go.
#pragma once

#include "comm/shared_segment.hpp"
#include "oshmem/job.hpp"

#include <cstddef>
#include <cstdint>
#include <exception>

namespace causeway::oshmem {

inline constexpr std::size_t line = 64; // of a cache: what one PE writes and another one reads

struct control_line {
    alignas(line) std::byte bytes[line];
};
/// Of each PE: how it goes; by PE, a line that the other one tells; and for each slot, lines_of_slot lines.
inline constexpr std::size_t state_line = 0, first_token = 1, lines_of_slot = 24;
/// Words of these lines: whether all have met at the end, and whether the PE waits; tokens of an active set, and
/// whether the other PE has begun to end, and tells nothing more.
inline constexpr std::size_t has_met_word = 0, waits_word = 1, token_word = 0, leaves_word = 1;
/// Behind them, the call of MPI in which the PE waits, if it does.
inline constexpr std::size_t call_offset = 2 * sizeof(std::uint64_t), longest_call = line - call_offset;
/// Whether the PE waits: 0, or the number of a wait and below it that of its looks at the other PEs.
inline constexpr unsigned wait_number_shift = 32;
/// Of a slot: its note, what is lent, the number of a slot that is made, and a token for each round of a meeting.
inline constexpr std::size_t note_line = 0, first_loan_line = 1, offer_line = 3, first_round_line = 4;
static_assert(sizeof(comm::segment_address) <= line);

inline std::uint64_t* word_of(void* line, std::size_t word) { return static_cast<std::uint64_t*>(line) + word; }

/// By which messages name the parts of a PE's memory.
inline constexpr std::uint32_t heap_part = 0, globals_part = 1, control_part = 2, first_lent_part = 16;

/// Failures end the job.
template <class Call> auto or_end(const char* name, Call call) {
    try {
        return call();
    } catch (const std::exception& error) {
        give_up(name, error.what());
    }
}

} // namespace causeway::oshmem
