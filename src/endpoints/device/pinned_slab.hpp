// SPDX-License-Identifier: Apache-2.0
// A little page-locked memory for what lies in ordinary memory.
#pragma once

#include "transfer/staging.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace causeway::endpoints {

/// Page-locked memory for small writes. From ordinary memory, a rectangle that does not block takes NVIDIA's driver
/// (580) 14 to 19 us more (docs/decisions/0016-small-writes-to-shared-devices.md). 256 KiB, allocated when the first
/// piece is wanted. Engine's thread only.
class pinned_slab : public std::enable_shared_from_this<pinned_slab> {
  public:
    static constexpr std::size_t page_bytes = 4096, pages = 64, bytes = pages * page_bytes;

    explicit pinned_slab(std::shared_ptr<transfer::staging_allocator> allocator) : m_allocator(std::move(allocator)) {}
    ~pinned_slab();
    pinned_slab(const pinned_slab&) = delete;
    pinned_slab& operator=(const pinned_slab&) = delete;

    /// Whole pages in a row, which are taken until this is destroyed. It may outlive the object that it comes from.
    class piece {
      public:
        piece() = default;
        piece(piece&& other) noexcept
            : m_of(std::move(other.m_of)), m_taken(std::exchange(other.m_taken, 0)), m_first(other.m_first) {}
        piece& operator=(piece&& other) noexcept {
            std::swap(m_of, other.m_of);
            std::swap(m_taken, other.m_taken);
            std::swap(m_first, other.m_first);
            return *this;
        }
        ~piece() {
            if (m_of) m_of->m_taken &= ~m_taken;
        }
        /// Null if there is none.
        [[nodiscard]] std::byte* data() const { return m_of ? m_first : nullptr; }

      private:
        friend pinned_slab;
        piece(std::shared_ptr<pinned_slab> of, std::uint64_t taken, std::byte* first)
            : m_of(std::move(of)), m_taken(taken), m_first(first) {}
        std::shared_ptr<pinned_slab> m_of;
        std::uint64_t m_taken = 0;
        std::byte* m_first = nullptr;
    };
    /// An empty one if so many pages in a row are not free, or no memory could be page-locked.
    [[nodiscard]] piece take(std::size_t wanted_bytes);

  private:
    std::shared_ptr<transfer::staging_allocator> m_allocator;
    std::byte* m_memory = nullptr;
    bool m_has_failed = false;
    std::uint64_t m_taken = 0; // a bit for each page
};

} // namespace causeway::endpoints
