// SPDX-License-Identifier: Apache-2.0
// The first pages in a row that are free.
#include "endpoints/device/pinned_slab.hpp"

#include <exception>

namespace causeway::endpoints {

pinned_slab::~pinned_slab() {
    if (m_memory != nullptr) m_allocator->release(m_memory, bytes);
}

pinned_slab::piece pinned_slab::take(std::size_t wanted_bytes) {
    if (wanted_bytes == 0 || wanted_bytes > bytes || m_has_failed) return {};
    const auto count = (wanted_bytes + page_bytes - 1) / page_bytes;
    const auto row = count == pages ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
    std::size_t first = 0;
    while (first + count <= pages && (m_taken & (row << first)) != 0) ++first;
    if (first + count > pages) return {};
    if (m_memory == nullptr) {
        try {
            m_memory = m_allocator->allocate(bytes);
        } catch (const std::exception&) {
            m_has_failed = true; // ordinary memory does, too
            return {};
        }
    }
    m_taken |= row << first;
    return {shared_from_this(), row << first, m_memory + first * page_bytes};
}

} // namespace causeway::endpoints
