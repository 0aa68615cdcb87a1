// SPDX-License-Identifier: Apache-2.0
// Allocates ranges of a heap by offset: the same calls give the same offsets on every PE.
#pragma once

#include <cstddef>
#include <map>
#include <optional>

namespace causeway::endpoints {

/// First fit. One thread at a time.
class offset_allocator {
  public:
    static constexpr std::size_t least_alignment = 64;

    explicit offset_allocator(std::size_t bytes) : m_bytes(bytes) { m_free.emplace(0, bytes); }

    /// The offset of a new range of `bytes`; none if no free range is large enough. `alignment` is a power of two.
    [[nodiscard]] std::optional<std::size_t> take(std::size_t bytes, std::size_t alignment = least_alignment);
    /// Frees the range that begins at `offset`.
    void give(std::size_t offset);

    struct range {
        std::size_t offset, bytes;
    };
    /// The allocated range that contains `offset`, with the bytes that were asked for; none if no allocation has it.
    [[nodiscard]] std::optional<range> find(std::size_t offset) const;
    /// As find(), also for the offset where a range ends, and where one of no bytes begins.
    [[nodiscard]] std::optional<range> find_or_end(std::size_t offset) const;
    [[nodiscard]] std::size_t bytes() const { return m_bytes; }
    [[nodiscard]] std::size_t largest_free() const;

  private:
    /// What an allocation at `begin` takes: the next one begins at a multiple of the least alignment.
    [[nodiscard]] std::size_t room_for(std::size_t begin, std::size_t bytes) const;

    std::size_t m_bytes;
    std::map<std::size_t, std::size_t> m_free, m_taken; // offset, bytes; of the taken, those asked for
};

} // namespace causeway::endpoints
