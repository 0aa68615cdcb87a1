// SPDX-License-Identifier: Apache-2.0
// Brings what the page cache lacks of a file into it faster than read(2) would.
#pragma once

#include "endpoints/file/file_io.hpp"

#include <atomic>
#include <cstddef>
#include <mutex>

namespace causeway::endpoints {

/// For one range of a file that this user owns or may write to; of other files the kernel does not say what is in the
/// cache. With several threads, read(2) reads ahead for each in small folios. A fault on a mapping that asks for huge
/// pages brings 2 MiB, in one folio where the file system has such (docs/decisions/0007-reading-files-for-a-device.md).
/// Nobody looks into the mapping, so that a file that is cut off meanwhile does no harm. Any thread that may wait for
/// the disk.
class cold_pages {
  public:
    explicit cold_pages(const file_range& whole) : m_whole(whole) {}
    ~cold_pages();
    cold_pages(const cold_pages&) = delete;
    cold_pages& operator=(const cold_pages&) = delete;

    /// True if the byte at `offset` of the range is not in the cache; false if the kernel does not say.
    [[nodiscard]] bool lack(std::size_t offset);
    /// Brings `bytes` from `offset` on, if the first one is missing. A failure shows when they are read.
    void bring(std::size_t offset, std::size_t bytes);

  private:
    /// Of the page that has the byte at `offset`.
    struct page {
        std::byte* start;
        std::size_t before; // that byte
    };
    [[nodiscard]] page page_of(std::size_t offset) const;
    void map();

    file_range m_whole;
    std::once_flag m_is_asked;
    std::byte* m_mapped = nullptr; // of the page in which the range begins
    std::size_t m_mapped_bytes = 0;
    std::atomic<bool> m_is_refused{false};
};

} // namespace causeway::endpoints
