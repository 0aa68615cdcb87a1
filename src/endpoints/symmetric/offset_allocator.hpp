// SPDX-License-Identifier: Apache-2.0
// Ranges of a heap that are given out: the same calls give the same offsets on every PE.
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

    /// `alignment` is a power of two. None if no free range is as large.
    [[nodiscard]] std::optional<std::size_t> take(std::size_t bytes, std::size_t alignment = least_alignment);
    /// `offset` begins a range that is taken.
    void give(std::size_t offset);

    struct range {
        std::size_t offset, bytes;
    };
    /// The range that is taken and has `offset` in it.
    [[nodiscard]] std::optional<range> find(std::size_t offset) const;
    [[nodiscard]] std::size_t bytes() const { return m_bytes; }
    [[nodiscard]] std::size_t largest_free() const;

  private:
    std::size_t m_bytes;
    std::map<std::size_t, std::size_t> m_free, m_taken; // offset, bytes
};

} // namespace causeway::endpoints
