// SPDX-License-Identifier: Apache-2.0
// A mapping whose pages are populated (madvise(2)) and let go of at once.
#include "endpoints/file/cold_pages.hpp"

#include "endpoints/file/page_cache.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

namespace causeway::endpoints {

namespace {

constexpr int populate_read = 22; // MADV_POPULATE_READ (Linux 5.14), not in older headers

std::size_t beyond_page(std::size_t offset) {
    static const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    return offset % page;
}

} // namespace

cold_pages::~cold_pages() {
    if (m_mapped != nullptr) ::munmap(m_mapped, m_mapped_bytes);
}

void cold_pages::map() {
    m_is_refused = true;
    if (!tells_of_pages(m_whole.fd)) return;
    const auto beyond = beyond_page(static_cast<std::size_t>(m_whole.start));
    const auto bytes = beyond + m_whole.bytes;
    void* const mapped = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, m_whole.fd,
                                m_whole.start - static_cast<off_t>(beyond));
    if (mapped == MAP_FAILED) return;
    m_mapped = static_cast<std::byte*>(mapped);
    m_mapped_bytes = bytes;
    m_is_refused = false;
    // Without huge pages a fault reads ahead as far as the disk is set to, which is nearly as good.
    (void)::madvise(m_mapped, m_mapped_bytes, MADV_HUGEPAGE);
}

cold_pages::page cold_pages::page_of(std::size_t offset) const {
    const auto in_mapping = beyond_page(static_cast<std::size_t>(m_whole.start)) + offset,
               before = beyond_page(in_mapping);
    return {m_mapped + (in_mapping - before), before};
}

bool cold_pages::lack(std::size_t offset) {
    std::call_once(m_is_asked, [this] { map(); });
    if (m_is_refused) return false;
    unsigned char is_there = 0;
    return ::mincore(page_of(offset).start, 1, &is_there) == 0 && (is_there & 1U) == 0;
}

void cold_pages::bring(std::size_t offset, std::size_t bytes) {
    if (!lack(offset)) return;
    const auto [first, before] = page_of(offset);
    // A kernel that cannot is not asked for every block.
    if (::madvise(first, before + bytes, populate_read) != 0 && errno == EINVAL) m_is_refused = true;
    // The cache keeps them. Mapped, they would count as this process's memory and be harder to reclaim.
    (void)::madvise(first, before + bytes, MADV_DONTNEED);
}

} // namespace causeway::endpoints
