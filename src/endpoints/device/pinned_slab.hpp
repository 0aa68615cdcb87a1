// SPDX-License-Identifier: Apache-2.0
// Pinned bounce buffers for small copies.
#pragma once

#include "transfer/staging.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace causeway::endpoints {

/// 256 KiB of page-locked memory for small writes, allocated for the first piece. A non-blocking rectangle write from
/// ordinary memory takes NVIDIA's driver (580) 14 to 19 us longer
/// (docs/decisions/0016-small-writes-to-shared-devices.md). Engine's thread only.
class pinned_slab : public std::enable_shared_from_this<pinned_slab> {
  public:
    static constexpr std::size_t page_bytes = 4096, pages = 64, bytes = pages * page_bytes;

    explicit pinned_slab(std::shared_ptr<transfer::staging_allocator> allocator) : m_allocator(std::move(allocator)) {}
    ~pinned_slab();
    pinned_slab(const pinned_slab&) = delete;
    pinned_slab& operator=(const pinned_slab&) = delete;

    /// Contiguous whole pages, given back by the destructor. A piece keeps its slab alive.
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
        /// Null for an empty piece.
        [[nodiscard]] std::byte* data() const { return m_of ? m_first : nullptr; }

      private:
        friend pinned_slab;
        piece(std::shared_ptr<pinned_slab> of, std::uint64_t taken, std::byte* first)
            : m_of(std::move(of)), m_taken(taken), m_first(first) {}
        std::shared_ptr<pinned_slab> m_of;
        std::uint64_t m_taken = 0;
        std::byte* m_first = nullptr;
    };
    /// Empty if not enough contiguous pages are free, or no memory could be page-locked.
    [[nodiscard]] piece take(std::size_t wanted_bytes);

  private:
    std::shared_ptr<transfer::staging_allocator> m_allocator;
    std::byte* m_memory = nullptr;
    bool m_has_failed = false;
    std::uint64_t m_taken = 0; // a bit for each page
};

} // namespace causeway::endpoints
