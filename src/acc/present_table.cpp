// SPDX-License-Identifier: Apache-2.0
#include "acc/present_table.hpp"

#include "acc/failure.hpp"

#include <sstream>

namespace causeway::acc {
namespace {

std::string range(const void* start, std::size_t bytes) {
    std::ostringstream text;
    text << "[" << start << ", " << static_cast<const void*>(static_cast<const char*>(start) + bytes) << ")";
    return text.str();
}

} // namespace

mapping* present_table::find_start(void* address) {
    auto* const at = static_cast<char*>(address);
    auto next = m_mappings.upper_bound(at);
    if (next == m_mappings.begin()) return nullptr;
    auto& before = std::prev(next)->second;
    return at < before.start + before.bytes || (at == before.start && before.bytes == 0) ? &before : nullptr;
}

bool present_table::overlaps(void* address, std::size_t bytes) const {
    auto* const at = static_cast<char*>(address);
    const auto next = m_mappings.lower_bound(at);
    return next != m_mappings.end() && next->second.start < at + bytes;
}

mapping* present_table::find(void* address, std::size_t bytes) {
    auto* const found = find_start(address);
    if (found && static_cast<char*>(address) + bytes <= found->start + found->bytes) return found;
    if (found)
        fail_here("the range " + range(address, bytes) + " is only partly mapped, by " +
                  range(found->start, found->bytes));
    if (overlaps(address, bytes)) fail_here("a part of the range " + range(address, bytes) + " is mapped already");
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
    for (auto& [start, each] : m_mappings)
        if (each.device_address && device_address >= each.device_address &&
            device_address < each.device_address + each.bytes)
            return &each;
    return nullptr;
}

mapping* present_table::find_buffer(cl_mem buffer, std::size_t offset) {
    for (auto& [start, each] : m_mappings)
        if (each.buffer == buffer && offset >= each.offset && offset < each.offset + each.bytes) return &each;
    return nullptr;
}

} // namespace causeway::acc
