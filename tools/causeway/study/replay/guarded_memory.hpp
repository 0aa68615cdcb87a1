// SPDX-License-Identifier: Apache-2.0
// Memory between guard pages: an access beyond the buffer is reported and ends the process.
#pragma once

#include <cstddef>
#include <span>

namespace replay {

/// Its last byte lies before a forbidden page, but for at most 127 bytes of a known pattern, as devices want their
/// alignment; so do the bytes between a forbidden page and its first.
class guarded_memory {
  public:
    static constexpr std::size_t alignment = 128;

    /// Throws std::bad_alloc.
    guarded_memory(std::size_t bytes, int number);
    ~guarded_memory();
    guarded_memory(guarded_memory&& other) noexcept;
    guarded_memory(const guarded_memory&) = delete;
    guarded_memory& operator=(const guarded_memory&) = delete;

    [[nodiscard]] std::byte* begin() const { return m_begin; }
    [[nodiscard]] std::span<std::byte> bytes() const { return {m_begin, m_bytes}; }
    /// Whether the pattern around it is as it was.
    [[nodiscard]] bool is_intact() const;

    /// From now on a touch of a forbidden page writes {"fault": ..., "object": number} to `descriptor` and ends the
    /// process with status 3.
    static void tell_of_faults(int descriptor);

  private:
    std::byte *m_area = nullptr, *m_begin = nullptr;
    std::size_t m_bytes = 0, m_inner = 0; ///< m_inner: between the forbidden pages
    int m_number = 0;
};

} // namespace replay
