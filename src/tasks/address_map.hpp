// SPDX-License-Identifier: Apache-2.0
// Knows the node of every address that was allocated here, without a system call and without a lock.
#pragma once

#include "tasks/distribution.hpp"
#include "tasks/region.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>

namespace causeway::tasks {

/// Covers one range of addresses, in granules. Look-ups may run concurrently with additions and with removals of other
/// layouts. Do not look up a layout while it is removed, as one does not use memory that is being freed.
class address_map {
  public:
    static constexpr int unknown = -1;

    /// Throws std::bad_alloc if there is no address space for its table (4 bytes for each granule, touched as used).
    address_map(std::uintptr_t begin, std::uint64_t bytes, std::uint64_t granule);
    address_map(const address_map&) = delete;
    address_map& operator=(const address_map&) = delete;
    ~address_map();

    /// `made` begins and ends at granules, within the range, and overlaps no other layout.
    void add(const layout& made);
    /// Removes the layout that begins at `begin` and returns it in `removed`. False if none does.
    bool remove(std::uintptr_t begin, layout& removed);

    [[nodiscard]] int node_of(std::uintptr_t address) const {
        const auto* found = find(address);
        return found ? static_cast<int>(found->node_of(address)) : unknown;
    }
    /// The layout that contains an address; null if none does.
    [[nodiscard]] const layout* find(std::uintptr_t address) const {
        if (address - m_begin >= m_bytes) return nullptr;
        const auto index = m_table[(address - m_begin) / m_granule].load(std::memory_order_acquire);
        return index == 0 ? nullptr : &entry(index);
    }
    /// Adds the range's bytes on each node to counts[node]; returns how many bytes are in no layout.
    std::uint64_t count(const region& range, std::uint64_t* counts) const;

  private:
    static constexpr std::size_t block_entries = 1024, most_blocks = 1u << 16;
    using block = std::array<layout, block_entries>;

    [[nodiscard]] layout& entry(std::uint32_t index) const {
        return (*m_blocks[(index - 1) / block_entries].load(std::memory_order_acquire))[(index - 1) % block_entries];
    }

    const std::uintptr_t m_begin;
    const std::uint64_t m_bytes, m_granule;
    std::atomic<std::uint32_t>* m_table; ///< by granule: 0, or 1 + index of its layout
    std::unique_ptr<std::atomic<block*>[]> m_blocks;
    std::mutex m_mutex; // guards what follows
    std::deque<std::uint32_t> m_free;
    std::uint32_t m_used = 0;
};

} // namespace causeway::tasks
