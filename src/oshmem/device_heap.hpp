// SPDX-License-Identifier: Apache-2.0
// The symmetric heap in the memory of this PE's device, which libcauseway serves.
#pragma once

#include "comm/remote_memory.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>

namespace causeway::oshmem {

using comm::word_operation; // numbered as libcauseway does

/// Its constructor loads libcauseway and OpenCL, which most programs do not need. Where a function takes `call`, a
/// failure ends the job with a message that begins with it.
class device_heap {
  public:
    /// PE `pe` of `pes` takes one of its node's devices, a GPU if there is one. Collective. If libcauseway has a heap
    /// with the same PEs under the same numbers already, uses that one. `all_agree` returns true if all PEs passed
    /// true; collective. If one PE fails, every PE throws transfer_error.
    device_heap(int pe, int pes, std::size_t bytes, const std::function<bool(bool)>& all_agree);

    [[nodiscard]] std::uintptr_t first() const { return m_first; }
    [[nodiscard]] std::size_t bytes() const { return m_bytes; }
    /// Where this process reads and writes `address` of that PE's heap; null if no load or store reaches it.
    [[nodiscard]] void* pointer(const void* address, int pe) const;

    /// Collective; null if there is no room.
    [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment) const;
    /// Collective; zeroed.
    [[nodiscard]] void* allocate_cleared(std::size_t count, std::size_t bytes) const;
    /// Collective.
    void free(const char* call, void* address) const;
    /// Collective.
    void finish() const;

    // The local side is ordinary memory or part of this PE's heap.
    void put(const char* call, void* target, const void* source, std::size_t bytes, int pe) const;
    void get(const char* call, void* target, const void* source, std::size_t bytes, int pe) const;
    void signal(const char* call, std::uint64_t* word, std::uint64_t value, bool adds, int pe) const;
    /// On a word of 4 or 8 bytes. Returns its former value.
    std::uint64_t atomic(const char* call, word_operation what, std::size_t word_bytes, const void* word,
                         std::uint64_t operand, std::uint64_t compared, int pe) const;

  private:
    struct calls;

    const calls* m_calls; // for the process's life
    bool m_is_own = true;
    std::uintptr_t m_first = 0;
    std::size_t m_bytes = 0;
};

} // namespace causeway::oshmem
