// SPDX-License-Identifier: Apache-2.0
// Hands out ranges of one piece of memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>

namespace causeway::endpoints {

/// First fit; neighbours that are free become one. Never touches the memory.
class address_ranges {
  public:
    address_ranges(std::byte* first, std::size_t bytes) { m_free.emplace(first, bytes); }

    /// A range of `bytes`, at a multiple of 256 from the first byte; null if no free range is long enough.
    [[nodiscard]] std::byte* take(std::size_t bytes) {
        const auto whole = rounded(bytes);
        for (auto each = m_free.begin(); each != m_free.end(); ++each) {
            const auto [first, there] = *each;
            if (there < whole) continue;
            m_free.erase(each);
            if (there > whole) m_free.emplace(first + whole, there - whole);
            return first;
        }
        return nullptr;
    }

    void give(std::byte* first, std::size_t bytes) {
        auto made = m_free.emplace(first, rounded(bytes)).first;
        const auto join = [&](auto one, auto other) {
            if (one->first + one->second != other->first) return one == made ? made : other;
            one->second += other->second;
            m_free.erase(other);
            return one;
        };
        if (made != m_free.begin()) made = join(std::prev(made), made);
        if (const auto next = std::next(made); next != m_free.end()) join(made, next);
    }

    /// Whether take(bytes) would succeed.
    [[nodiscard]] bool has_room(std::size_t bytes) const {
        return std::any_of(m_free.begin(), m_free.end(),
                           [&](const auto& each) { return each.second >= rounded(bytes); });
    }

  private:
    static constexpr std::size_t alignment = 256;
    static std::size_t rounded(std::size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

    std::map<std::byte*, std::size_t> m_free;
};

} // namespace causeway::endpoints
