// SPDX-License-Identifier: Apache-2.0
// The heaps of PEs as endpoints, and waits for words of this PE's own heap.
#pragma once

#include "endpoints/symmetric/heap.hpp"
#include "endpoints/symmetric/meeting.hpp"
#include "transfer/endpoint.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace causeway::endpoints {

/// Bytes of a PE's heap: a range, or rows of a box like those of device_endpoint.hpp.
struct heap_location {
    int pe = 0;
    std::size_t offset = 0; ///< of the first byte
    bool is_box = false;
    std::array<std::size_t, 3> region{}; ///< of a box: bytes, rows, slices
    std::size_t row_pitch = 0, slice_pitch = 0;
};

/// Sets or adds to a 64-bit word in the heap of a put's target PE, once all bytes of the put are there.
struct heap_signal {
    enum class operation { set, add };
    std::size_t offset = 0;
    operation what = operation::set;
    std::uint64_t value = 0;
};

enum class comparison { equal, not_equal, greater, greater_or_equal, less, less_or_equal };

/// A word of 4 or 8 bytes in this PE's heap, and the comparison that ends the wait, of signed or unsigned numbers.
struct awaited_word {
    std::size_t offset = 0;
    std::size_t bytes = 8;
    comparison how = comparison::equal;
    std::uint64_t value = 0;
    bool is_signed = false;
};
[[nodiscard]] bool holds(const awaited_word& what, const std::byte* word);
/// What a wait waits for, for the user. `word` may be null: not known.
[[nodiscard]] std::string text_of(const awaited_word& what, const std::byte* word);

enum class atomic_operation { fetch, set, add, increment, compare_and_swap, swap, bit_and, bit_or, bit_xor };

struct heap_atomic {
    int pe = 0;
    std::size_t offset = 0;
    std::size_t bytes = 8; ///< 4 or 8
    atomic_operation what = atomic_operation::fetch;
    std::uint64_t operand = 0, compared = 0;
};
/// Applies the operation to a word that other processes also change; returns what was there before.
std::uint64_t carry_out(const heap_atomic& what, std::byte* word);

/// A put and a get that the calling thread carries out itself, without the engine. Any thread; the heap of `where.pe`
/// must be mapped here.
void put_now(const heap& of, const std::byte* source, const heap_location& where, std::size_t bytes,
             const std::optional<heap_signal>& then);
void get_now(const heap& of, std::byte* target, const heap_location& where, std::size_t bytes);

/// The target of a put. Its bytes, then the signal, are visible to the other PE when the transfer is complete.
[[nodiscard]] std::unique_ptr<transfer::endpoint> make_put_target(std::shared_ptr<heap> of, const heap_location& where,
                                                                  std::optional<heap_signal> then = {});
/// The source of a get.
[[nodiscard]] std::unique_ptr<transfer::endpoint> make_get_source(std::shared_ptr<heap> of, const heap_location& where);
/// A source whose bytes are the word's former value.
[[nodiscard]] std::unique_ptr<transfer::endpoint> make_atomic_source(std::shared_ptr<heap> of, const heap_atomic& what);
/// A source without bytes that opens when the comparison is true.
[[nodiscard]] std::unique_ptr<transfer::endpoint> make_word_wait(std::shared_ptr<heap> of, const awaited_word& what);

/// A source without bytes that opens when the one-sided commands enqueued before it have ended; those behind it begin
/// then.
enum class fence_kind {
    fence, ///< does not report failures
    quiet  ///< fails with the first failure since the last one
};
[[nodiscard]] std::unique_ptr<transfer::endpoint> make_fence(std::shared_ptr<heap> of, fence_kind kind);

/// A quiet that opens when all PEs have come to it.
[[nodiscard]] std::unique_ptr<transfer::endpoint> make_meeting(const std::shared_ptr<heap>& of,
                                                               const meeting_purpose& purpose);

} // namespace causeway::endpoints
