// SPDX-License-Identifier: Apache-2.0
// Maps addresses to nodes. Look-ups make no system call and take no lock.
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

/// Covers one range of addresses, in granules. Look-ups may run during add() and remove(), even of what is looked up:
/// they return `unknown` or the state before.
class address_map {
  public:
    static constexpr int unknown = -1;

    /// Throws std::bad_alloc if there is no address space for its table (8 bytes for each granule, touched as used).
    address_map(std::uintptr_t begin, std::uint64_t bytes, std::uint64_t granule);
    address_map(const address_map&) = delete;
    address_map& operator=(const address_map&) = delete;
    ~address_map();

    /// `made` begins and ends at granules, within the range, and overlaps no other layout; its units are granules. A
    /// placement of the program is asked here, and not again.
    void add(const layout& made);
    /// Removes the layout that begins at `begin` and returns it in `removed`. False if none does.
    bool remove(std::uintptr_t begin, extent& removed);

    [[nodiscard]] int node_of(std::uintptr_t address) const {
        if (address - m_begin >= m_bytes) return unknown;
        return static_cast<int>(cell_of(address) >> 32) - 1;
    }
    /// The layout that contains an address. False if none does.
    [[nodiscard]] bool find(std::uintptr_t address, extent& found) const {
        if (address - m_begin >= m_bytes) return false;
        const auto index = static_cast<std::uint32_t>(cell_of(address));
        return index != 0 && entry(index).read(found) && address - found.begin < found.bytes;
    }
    /// Adds the range's bytes on each node to counts[node]; returns how many bytes are in no layout.
    std::uint64_t count(const region& range, std::uint64_t* counts) const;

  private:
    /// An extent that may be read while another layout's replaces it (a sequence lock).
    class guarded_extent {
      public:
        void write(const extent& now) {
            const auto version = m_version.load(std::memory_order_relaxed);
            m_version.store(version + 1, std::memory_order_relaxed);
            // A reader that sees one of these values also sees the odd version.
            m_begin.store(now.begin, std::memory_order_release);
            m_bytes.store(now.bytes, std::memory_order_release);
            m_unit.store(now.unit, std::memory_order_release);
            m_nodes.store(now.nodes, std::memory_order_release);
            m_node.store(now.node, std::memory_order_release);
            m_turns.store(now.turns, std::memory_order_release);
            m_how.store(now.how, std::memory_order_release);
            m_version.store(version + 2, std::memory_order_release);
        }
        /// False while it changes.
        bool read(extent& now) const {
            const auto version = m_version.load(std::memory_order_acquire);
            now.begin = m_begin.load(std::memory_order_acquire);
            now.bytes = m_bytes.load(std::memory_order_acquire);
            now.unit = m_unit.load(std::memory_order_acquire);
            now.nodes = m_nodes.load(std::memory_order_acquire);
            now.node = m_node.load(std::memory_order_acquire);
            now.turns = m_turns.load(std::memory_order_acquire);
            now.how = m_how.load(std::memory_order_acquire);
            return version % 2 == 0 && m_version.load(std::memory_order_relaxed) == version;
        }

      private:
        std::atomic<std::uint32_t> m_version{0}; ///< odd while it changes
        std::atomic<unsigned> m_nodes{1}, m_node{0};
        std::atomic<distribution> m_how{distribution::standard};
        std::atomic<std::uintptr_t> m_begin{0};
        std::atomic<std::uint64_t> m_bytes{0}, m_unit{0};
        std::atomic<const unsigned*> m_turns{nullptr};
    };
    static constexpr std::size_t block_entries = 1024, most_blocks = 1u << 16;
    using block = std::array<guarded_extent, block_entries>;

    [[nodiscard]] std::uint64_t cell_of(std::uintptr_t address) const {
        return m_table[(address - m_begin) / m_granule].load(std::memory_order_acquire);
    }
    [[nodiscard]] guarded_extent& entry(std::uint32_t index) const {
        return (*m_blocks[(index - 1) / block_entries].load(std::memory_order_acquire))[(index - 1) % block_entries];
    }

    const std::uintptr_t m_begin;
    const std::uint64_t m_bytes, m_granule;
    std::atomic<std::uint64_t>* m_table; ///< by granule: 0, or 1 + node (upper half), 1 + index of layout (lower)
    std::unique_ptr<std::atomic<block*>[]> m_blocks;
    std::mutex m_mutex; // guards what follows
    std::deque<std::uint32_t> m_free;
    std::uint32_t m_used = 0;
};

} // namespace causeway::tasks
