// SPDX-License-Identifier: Apache-2.0
// Position-dependent bytes and their comparison.
#include "support/patterns.hpp"

#include <algorithm>
#include <cstring>

namespace support {

namespace {

// The finaliser of splitmix64 (Steele et al., 2014): neighbouring positions give unrelated words.
std::uint64_t mix(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
}

} // namespace

bytes pattern(std::size_t size, std::uint64_t seed) {
    bytes result(size);
    const std::uint64_t base = mix(seed);
    for (std::size_t at = 0; at < size; at += sizeof(std::uint64_t)) {
        const std::uint64_t word = mix(base + at);
        std::memcpy(&result[at], &word, std::min(sizeof word, size - at));
    }
    return result;
}

bytes slice(const bytes& whole, std::size_t offset, std::size_t size) {
    const auto first = whole.begin() + static_cast<std::ptrdiff_t>(offset);
    return {first, first + static_cast<std::ptrdiff_t>(size)};
}

bytes join(const bytes& first, const bytes& second) {
    bytes result = first;
    result.insert(result.end(), second.begin(), second.end());
    return result;
}

testing::AssertionResult same_bytes(std::span<const unsigned char> expected, std::span<const unsigned char> actual) {
    const std::size_t common = std::min(expected.size(), actual.size());
    if (common != 0 && std::memcmp(expected.data(), actual.data(), common) != 0) {
        const auto difference = std::mismatch(expected.begin(), expected.begin() + common, actual.begin());
        return testing::AssertionFailure()
               << "byte " << difference.first - expected.begin() << " of " << expected.size() << " is "
               << int{*difference.second} << ", expected " << int{*difference.first};
    }
    if (expected.size() != actual.size()) {
        return testing::AssertionFailure() << actual.size() << " bytes, expected " << expected.size();
    }
    return testing::AssertionSuccess();
}

} // namespace support
