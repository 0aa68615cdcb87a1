// SPDX-License-Identifier: Apache-2.0
// Bytes whose value depends on their position, and comparisons that name the first difference.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace support {

using bytes = std::vector<unsigned char>;

/// `size` bytes that look random and depend on position and seed alone.
[[nodiscard]] bytes pattern(std::size_t size, std::uint64_t seed = 1);

[[nodiscard]] bytes slice(const bytes& whole, std::size_t offset, std::size_t size);
[[nodiscard]] bytes join(const bytes& first, const bytes& second);

/// Compares sizes and contents; the message names the first byte that differs.
[[nodiscard]] testing::AssertionResult same_bytes(std::span<const unsigned char> expected,
                                                  std::span<const unsigned char> actual);

} // namespace support
