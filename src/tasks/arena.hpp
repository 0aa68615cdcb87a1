// SPDX-License-Identifier: Apache-2.0
// Allocates distributed memory from one reserved address range; its pages are bound to nodes and registered in an
// address map.
#pragma once

#include "tasks/address_map.hpp"
#include "topology/machine.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

namespace causeway::tasks {

/// What one allocation asks for.
struct allocation_request {
    std::size_t bytes = 0;
    distribution how = distribution::standard;
    std::size_t unit = 0; ///< bytes; 0: one page, else a multiple of the page size
    unit_placement place; ///< for distribution::plugin
};

/// Binds pages to nodes. Tests use a fake, for machines that they do not run on.
class page_binder {
  public:
    virtual ~page_binder() = default;
    virtual bool bind(void* address, std::size_t bytes, unsigned node) = 0;
    /// Interleaves single pages over all nodes with cores. The number of a page selects its node, in the order of the
    /// system's node numbers. False if the system refuses.
    virtual bool interleave(void* address, std::size_t bytes) = 0;
    /// The node of the calling thread.
    virtual unsigned current_node() = 0;
};

/// Binds by system calls; does nothing on a machine with one node. `here` must outlive it.
[[nodiscard]] std::unique_ptr<page_binder> system_binder(const topology::machine& here);

/// Any thread may call. Nodes without cores get no pages.
class arena {
  public:
    /// Its range begins at `wanted`, or some TiB above it but below 16 TiB, if addresses are free there; else anywhere.
    /// Below 16 TiB, each version of Linux interleaves the pages of one mapping over any number of nodes. Programs and
    /// other libraries usually have nothing at the default.
    arena(const topology::machine& here, std::unique_ptr<page_binder> binder, std::uintptr_t wanted = 4ull << 40);
    arena(const arena&) = delete;
    arena& operator=(const arena&) = delete;
    ~arena();

    /// Returns zeroed memory, never null. Throws std::bad_alloc, or transfer_error for a wrong unit.
    void* allocate(const allocation_request& request);
    /// Frees an allocation. False if `address` is outside the arena; throws transfer_error if it is inside, but no live
    /// allocation begins there.
    bool release(void* address);

    [[nodiscard]] const address_map& addresses() const { return m_map; }
    [[nodiscard]] std::uint64_t bytes_in_use() const;
    /// Number of allocations that the system refused to bind; their pages are placed by first touch.
    [[nodiscard]] std::uint64_t unbound() const { return m_unbound.load(std::memory_order_relaxed); }

  private:
    std::uintptr_t take_addresses(std::uint64_t bytes, std::uint64_t alignment);
    /// False if the system refuses.
    [[nodiscard]] bool bind(const layout& made, distribution asked);
    void give_memory_back(std::uintptr_t begin, std::uint64_t bytes);
    void give_addresses_back(std::uintptr_t begin, std::uint64_t bytes);
    using holes = std::map<std::uintptr_t, std::uint64_t>;
    void add_hole(std::uintptr_t begin, std::uint64_t bytes);
    holes::iterator remove_hole(holes::iterator which);

    const topology::machine& m_machine;
    std::unique_ptr<page_binder> m_binder;
    std::vector<unsigned> m_nodes; ///< that have cores
    std::vector<unsigned> m_turns; ///< the same, in the order in which the system interleaves
    bool m_interleaves = false; ///< the system interleaves by address in the whole range
    std::uintptr_t m_begin;
    std::uint64_t m_bytes;
    address_map m_map;
    std::atomic<std::uint64_t> m_next_node{0}, m_unbound{0};
    mutable std::mutex m_mutex; // guards what follows
    holes m_holes; ///< begin and bytes of addresses that are free
    std::set<std::pair<std::uint64_t, std::uintptr_t>> m_holes_by_bytes; ///< the same, smallest first
    std::uint64_t m_in_use = 0;
};

} // namespace causeway::tasks
