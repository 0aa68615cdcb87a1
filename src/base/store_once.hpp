// SPDX-License-Identifier: Apache-2.0
// A copy into memory that other threads or processes poll meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace causeway {

namespace detail {

template <class Word> void store_words_once(std::byte* to, const std::byte* from, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; i += sizeof(Word)) {
        Word word;
        std::memcpy(&word, from + i, sizeof word);
        __atomic_store_n(reinterpret_cast<Word*>(to + i), word, __ATOMIC_RELEASE);
    }
}

} // namespace detail

/// As memmove(), but stores the last word by a single store, after all other bytes. Up to 64 bytes are stored word by
/// word. A thread that waits for a word may overwrite it as soon as it changes: memmove(), which may store a word twice
/// (glibc's does with 8 bytes), would undo that. A word has 8 bytes, or the largest power of two that divides address
/// and size.
inline void store_once(void* target, const void* source, std::size_t bytes) {
    constexpr std::size_t few = 64;
    auto* const to = static_cast<std::byte*>(target);
    const auto* const from = static_cast<const std::byte*>(source);
    const auto bits = reinterpret_cast<std::uintptr_t>(to) | bytes | sizeof(std::uint64_t);
    const auto word = bits & (~bits + 1);
    const auto before = bytes <= few ? 0 : bytes - word;
    std::byte last[few]; // first, as source and target may overlap
    std::memcpy(last, from + before, bytes - before);
    if (before != 0) std::memmove(to, from, before);
    switch (word) {
    case 8: detail::store_words_once<std::uint64_t>(to + before, last, bytes - before); break;
    case 4: detail::store_words_once<std::uint32_t>(to + before, last, bytes - before); break;
    case 2: detail::store_words_once<std::uint16_t>(to + before, last, bytes - before); break;
    default: detail::store_words_once<std::uint8_t>(to + before, last, bytes - before); break;
    }
}

} // namespace causeway
