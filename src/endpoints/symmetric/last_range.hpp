// SPDX-License-Identifier: Apache-2.0
// The allocation that a thread has found last, so that it finds it again without a lock.
#pragma once

#include "endpoints/symmetric/offset_allocator.hpp"

#include <cstddef>
#include <cstdint>

namespace causeway::endpoints {

/// One thread only.
class last_range {
  public:
    /// Whether it contains `offset` of the heap `of` and is still allocated, if heaps have changed `changes` times.
    [[nodiscard]] bool has(const void* of, std::uint64_t changes, std::size_t offset) const {
        return m_of == of && m_changes == changes && offset - m_range.offset < m_range.bytes;
    }
    /// `of` has allocated `range`, which was found after `changes` changes or later. A heap that takes the address of
    /// an earlier one must count as a change.
    void keep(const void* of, std::uint64_t changes, const offset_allocator::range& range) {
        m_of = of;
        m_changes = changes;
        m_range = range;
    }
    [[nodiscard]] const offset_allocator::range& get() const { return m_range; }

  private:
    const void* m_of = nullptr;
    std::uint64_t m_changes = 0;
    offset_allocator::range m_range{};
};

} // namespace causeway::endpoints
