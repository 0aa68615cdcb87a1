// SPDX-License-Identifier: Apache-2.0
// Brings what the page cache lacks of a file into it faster than read(2) would.
#pragma once

#include "endpoints/file/file_io.hpp"

#include <atomic>
#include <cstddef>
#include <mutex>

namespace causeway::endpoints {

/// Of one range of one file that this user owns or may write to: of others the kernel does not say what is in the
/// cache. Where several threads read blocks of a file, read(2) reads ahead for each in small folios; a fault on a
/// mapping that asks for huge pages brings 2 MiB, in one folio where the file system has such
/// (docs/decisions/0007-reading-files-for-a-device.md). Nobody looks into the mapping, so that a file that is cut off
/// meanwhile does no harm. Any thread that may wait for the disk.
class cold_pages {
  public:
    explicit cold_pages(const file_range& whole) : m_whole(whole) {}
    ~cold_pages();
    cold_pages(const cold_pages&) = delete;
    cold_pages& operator=(const cold_pages&) = delete;

    /// Whether the byte at `offset` of the range is not there. False if nobody says.
    [[nodiscard]] bool lack(std::size_t offset);
    /// Brings `bytes` from `offset` on, if they lack the first one. Whoever reads them finds out what failed.
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
