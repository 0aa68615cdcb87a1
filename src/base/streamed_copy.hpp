// SPDX-License-Identifier: Apache-2.0
// Copies into memory that another processor reads next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace causeway {

/// Copies past this processor's caches. A copy through them fetches each line of `to` from the cache of its last
/// reader, which then fetches it back. If the two processors share no cache, that is 3 to 8 times slower
/// (docs/decisions/0014-buffers-in-place.md). Call copied_all() before the reader is told.
inline void streamed_copy(std::byte* to, const std::byte* from, std::size_t bytes) {
#ifdef __SSE2__
    constexpr std::size_t line = 64, part = sizeof(__m128i);
    const auto head = (line - reinterpret_cast<std::uintptr_t>(to) % line) % line;
    if (bytes >= head + line) {
        std::memcpy(to, from, head);
        for (to += head, from += head, bytes -= head; bytes >= line; to += line, from += line, bytes -= line) {
            __m128i held[line / part];
            std::memcpy(held, from, line);
            for (std::size_t i = 0; i < line / part; ++i) _mm_stream_si128(reinterpret_cast<__m128i*>(to) + i, held[i]);
        }
    }
#endif
    std::memcpy(to, from, bytes);
}

/// Makes all streamed copies of this thread visible to other processors.
inline void copied_all() {
#ifdef __SSE2__
    _mm_sfence();
#endif
}

} // namespace causeway
