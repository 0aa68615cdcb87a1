// SPDX-License-Identifier: Apache-2.0
// Words of a heap in device memory, kept in shared memory of the node so that processors can work on them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace causeway::endpoints {

/// No processor reaches a word in a device's memory. A word that is signalled or waited for is therefore kept here from
/// then on. The value here counts; the device's memory has an older one until it is written back. The PE whose heap it
/// is, the owner, adds and removes words; all PEs of the node find them, and work on them by atomics.
class word_table {
  public:
    static constexpr std::size_t most_words = 512;
    [[nodiscard]] static constexpr std::size_t bytes() { return sizeof(head) + most_words * sizeof(slot); }

    /// `memory` is zero at first, aligned to 64 bytes, and outlives this.
    explicit word_table(std::byte* memory) : m_head(reinterpret_cast<head*>(memory)) {}

    /// The value of the word of `bytes` at `offset`; null if it is not kept here, or not yet. Any process.
    [[nodiscard]] std::byte* find(std::size_t offset, std::size_t bytes) const;
    /// Whether some word of the range is kept here, or will be. Any process. If a process changes the device's memory
    /// and then gets false, any word added later is loaded with that change.
    [[nodiscard]] bool overlaps(std::size_t offset, std::size_t bytes) const;

    // For the owner only.

    [[nodiscard]] bool knows(std::size_t offset, std::size_t bytes) const { return slot_of(offset, bytes) != nullptr; }
    /// Adds the word without a value: others see that it will be kept. False if there is no room, or an overlapping
    /// word is kept; then overlaps() is true for every range.
    [[nodiscard]] bool begin(std::size_t offset, std::size_t bytes);
    /// Sets its value: now it is kept.
    void keep(std::size_t offset, std::size_t bytes, std::uint64_t value);
    /// Sets the word back to the state after begin(), because the device's memory has a newer value.
    void reload(std::size_t offset, std::size_t bytes);
    void remove(std::size_t offset, std::size_t bytes);
    /// Calls `call` for each word of the range.
    void for_each(std::size_t offset, std::size_t bytes,
                  const std::function<void(std::size_t word_offset, std::size_t word_bytes)>& call) const;

  private:
    enum state : std::uint32_t { unused = 0, loading, kept };
    struct alignas(64) slot {
        std::uint64_t key; ///< 16 times the offset, and the bytes; 0 for none
        std::uint32_t is;
        std::uint64_t value;
    };
    struct alignas(64) head {
        std::uint64_t used; ///< slots before this one have been in use
        std::uint32_t is_incomplete; ///< begin() has refused a word
    };

    [[nodiscard]] slot* slots() const { return reinterpret_cast<slot*>(m_head + 1); }
    [[nodiscard]] std::size_t used() const {
        return static_cast<std::size_t>(__atomic_load_n(&m_head->used, __ATOMIC_ACQUIRE));
    }
    [[nodiscard]] slot* slot_of(std::size_t offset, std::size_t bytes) const;

    head* m_head;
};

} // namespace causeway::endpoints
