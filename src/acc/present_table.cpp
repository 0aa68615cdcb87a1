// SPDX-License-Identifier: Apache-2.0
#include "acc/present_table.hpp"

#include "acc/failure.hpp"
#include "runtime/symmetric_allocation.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

namespace causeway::acc {

std::string range_text(const void* start, std::size_t bytes) {
    std::ostringstream text;
    text << "[" << start << ", " << static_cast<const void*>(static_cast<const char*>(start) + bytes) << ")";
    return text.str();
}

mapping* present_table::find_start(void* address) {
    auto* const own = find_own(address);
    return own ? own : find_symmetric(static_cast<char*>(address));
}

mapping* present_table::find_symmetric(char* address) {
    core::symmetric_allocation found;
    if (!m_context || !causeway_symmetric_allocation(address, &found) || found.context != m_context) return nullptr;
    const auto same = [&](const mapping& each) {
        return each.start == found.start && each.bytes == found.bytes && each.buffer == found.buffer &&
               each.offset == found.offset;
    };
    if (const auto known = std::ranges::find_if(m_symmetric, same); known != m_symmetric.end()) return &*known;
    ++m_version;
    mapping made{found.start, found.bytes, found.start, found.buffer, found.offset};
    made.owned = false, made.symmetric = true;
    made.structured = 1;
    return &m_symmetric.emplace_back(made);
}

std::vector<char*> present_table::forget_freed() {
    std::vector<char*> addresses;
    for (auto each = m_symmetric.begin(); each != m_symmetric.end();) {
        core::symmetric_allocation found;
        const bool there = each->start && causeway_symmetric_allocation(each->start, &found) &&
                           found == core::symmetric_allocation{m_context, each->buffer, each->offset, each->bytes,
                                                               each->start};
        if (!there && each->start) ++m_version, each->start = nullptr, each->bytes = 0;
        if (!there && each->device_address) addresses.push_back(std::exchange(each->device_address, nullptr));
        each = there || each->structured > 1 ? std::next(each) : m_symmetric.erase(each);
    }
    return addresses;
}

mapping* present_table::find_own(void* address) {
    auto* const at = static_cast<char*>(address);
    auto next = m_mappings.upper_bound(at);
    if (next == m_mappings.begin()) return nullptr;
    auto& before = std::prev(next)->second;
    return at < before.start + before.bytes || (at == before.start && before.bytes == 0) ? &before : nullptr;
}

mapping* present_table::find_overlapping(void* address, std::size_t bytes) {
    auto* const at = static_cast<char*>(address);
    const auto next = m_mappings.lower_bound(at);
    return next != m_mappings.end() && next->second.start < at + bytes ? &next->second : nullptr;
}

mapping* present_table::find(void* address, std::size_t bytes) {
    auto* const found = find_start(address);
    if (found && static_cast<char*>(address) + bytes <= found->start + found->bytes) return found;
    if (found)
        fail_here("the range " + range_text(address, bytes) + " is only partly mapped, by " +
                  range_text(found->start, found->bytes));
    if (find_overlapping(address, bytes))
        fail_here("a part of the range " + range_text(address, bytes) + " is mapped already");
    return nullptr;
}

mapping* present_table::find_base(void* base) {
    mapping* found = nullptr;
    for (auto& [start, each] : m_mappings) {
        if (each.base != base) continue;
        if (found) return nullptr;
        found = &each;
    }
    return found;
}

mapping* present_table::find_device(char* device_address) {
    const auto has = [&](const mapping& each) {
        return each.device_address && device_address >= each.device_address &&
               device_address < each.device_address + each.bytes;
    };
    for (auto& [start, each] : m_mappings)
        if (has(each)) return &each;
    const auto found = std::ranges::find_if(m_symmetric, has);
    return found == m_symmetric.end() ? nullptr : &*found;
}

mapping* present_table::find_buffer(cl_mem buffer, std::size_t offset) {
    for (auto& [start, each] : m_mappings)
        if (each.buffer == buffer && offset >= each.offset && offset < each.offset + each.bytes) return &each;
    return nullptr;
}

} // namespace causeway::acc
