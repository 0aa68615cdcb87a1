// SPDX-License-Identifier: Apache-2.0
// Free ranges are joined with their neighbours as soon as they are given back.
#include "endpoints/symmetric/offset_allocator.hpp"

#include <algorithm>
#include <iterator>

namespace causeway::endpoints {

namespace {

constexpr auto least = offset_allocator::least_alignment;

} // namespace

std::size_t offset_allocator::room_for(std::size_t begin, std::size_t bytes) const {
    return std::min(std::max<std::size_t>(1, (bytes + least - 1) / least) * least, m_bytes - begin);
}

std::optional<std::size_t> offset_allocator::take(std::size_t bytes, std::size_t alignment) {
    alignment = std::max(alignment, least);
    if (bytes > m_bytes) return {};
    for (auto each = m_free.begin(); each != m_free.end(); ++each) {
        const auto [first, free] = *each;
        const auto begin = (first + alignment - 1) / alignment * alignment, skipped = begin - first;
        if (skipped >= free) continue;
        const auto size = room_for(begin, bytes);
        if (std::max(size, bytes) > free - skipped) continue;
        m_free.erase(each);
        if (skipped > 0) m_free.emplace(first, skipped);
        if (free - skipped > size) m_free.emplace(begin + size, free - skipped - size);
        m_taken.emplace(begin, bytes);
        return begin;
    }
    return {};
}

void offset_allocator::give(std::size_t offset) {
    const auto found = m_taken.find(offset);
    if (found == m_taken.end()) return;
    const auto first = found->first;
    auto bytes = room_for(first, found->second);
    m_taken.erase(found);
    auto next = m_free.lower_bound(first);
    if (next != m_free.end() && first + bytes == next->first) {
        bytes += next->second;
        next = m_free.erase(next);
    }
    if (next != m_free.begin()) {
        const auto before = std::prev(next);
        if (before->first + before->second == first) {
            before->second += bytes;
            return;
        }
    }
    m_free.emplace(first, bytes);
}

std::optional<offset_allocator::range> offset_allocator::find(std::size_t offset) const {
    const auto found = find_or_end(offset);
    return found && offset - found->offset < found->bytes ? found : std::nullopt;
}

std::optional<offset_allocator::range> offset_allocator::find_or_end(std::size_t offset) const {
    const auto behind = m_taken.upper_bound(offset);
    if (behind == m_taken.begin()) return {};
    const auto& [first, bytes] = *std::prev(behind);
    if (offset - first > bytes) return {};
    return range{first, bytes};
}

std::size_t offset_allocator::largest_free() const {
    std::size_t largest = 0;
    for (const auto& [offset, bytes] : m_free) largest = std::max(largest, bytes);
    return largest;
}

} // namespace causeway::endpoints
