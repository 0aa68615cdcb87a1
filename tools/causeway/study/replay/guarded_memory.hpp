// SPDX-License-Identifier: Apache-2.0
// Memory between guard pages: an access beyond the buffer is reported and ends the process.
#pragma once

#include <cstddef>
#include <span>

namespace replay {

/// The buffer ends at a guard page, or up to 127 bytes before it, because its start must be aligned for devices. These
/// bytes, and those between the other guard page and the start, have a known pattern.
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
    /// True if the pattern is unchanged.
    [[nodiscard]] bool is_intact() const;

    /// From now on a fault, as by an access to a guard page, writes {"fault": ..., "object": number, "signal": number}
    /// to `descriptor` and ends the process with status 3. A driver's own handler of SIGFPE stays.
    static void tell_of_faults(int descriptor);

  private:
    std::byte *m_area = nullptr, *m_begin = nullptr;
    std::size_t m_bytes = 0, m_inner = 0; ///< m_inner: between the guard pages
    int m_number = 0;
};

} // namespace replay
