// SPDX-License-Identifier: Apache-2.0
// Reads missing pages of a file into the page cache, faster than read(2) would.
#pragma once

#include "endpoints/file/file_io.hpp"

#include <atomic>
#include <cstddef>
#include <mutex>

namespace causeway::endpoints {

/// For one range of a file. The user must own the file or may write to it: the kernel hides which pages of other files
/// are cached. read(2) by several threads reads ahead for each in small folios. A fault on a mapping that asks for huge
/// pages reads 2 MiB, in one folio where the file system supports it
/// (docs/decisions/0007-reading-files-for-a-device.md). The mapping is never accessed by loads, so that truncating the
/// file does no harm. Any thread that may wait for the disk.
class cold_pages {
  public:
    explicit cold_pages(const file_range& whole) : m_whole(whole) {}
    ~cold_pages();
    cold_pages(const cold_pages&) = delete;
    cold_pages& operator=(const cold_pages&) = delete;

    /// True if the byte at `offset` of the range is not in the cache; false if the kernel does not say.
    [[nodiscard]] bool lack(std::size_t offset);
    /// Reads `bytes` from `offset` on into the cache, if the byte at `offset` is not there. Reports no failure: a later
    /// read(2) will.
    void bring(std::size_t offset, std::size_t bytes);

  private:
    /// The page with the byte at `offset`.
    struct page {
        std::byte* start;
        std::size_t before; // bytes of the page before that byte
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
