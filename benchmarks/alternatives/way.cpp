// SPDX-License-Identifier: Apache-2.0
// Data that shows every mistake.
#include "way.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <stdexcept>

namespace alternatives {

void verify(const std::byte* found, const std::byte* expected, std::size_t bytes) {
    if (std::memcmp(found, expected, bytes) == 0) return;
    const auto wrong = std::mismatch(found, found + bytes, expected).first - found;
    throw std::runtime_error("wrong data from byte " + std::to_string(wrong) + " of " + std::to_string(bytes));
}

std::string block_text(std::size_t bytes) { return "blocks of " + std::to_string(bytes / mib) + " MiB"; }

test_data::test_data(std::size_t part_bytes) : m_bytes(part_bytes + parts * step) {
    for (std::size_t at = 0; at < m_bytes.size(); at += sizeof(std::uint64_t)) {
        const std::uint64_t word = (at + 1) * 0x9E3779B97F4A7C15U;
        std::memcpy(m_bytes.data() + at, &word, std::min(sizeof word, m_bytes.size() - at));
    }
}

} // namespace alternatives
