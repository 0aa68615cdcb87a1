// SPDX-License-Identifier: Apache-2.0
// Memory with a distribution: a reserved range of addresses, whose pages are bound to nodes and known to the address
// map.
#pragma once

#include "tasks/address_map.hpp"
#include "topology/machine.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace causeway::tasks {

/// What one allocation asks for.
struct allocation_request {
    std::size_t bytes = 0;
    distribution how = distribution::standard;
    std::size_t unit = 0; ///< 0 takes a page; else a multiple of it
    unit_placement place; ///< of a plug-in
};

/// Binds pages; a fake stands in for it in tests of machines that are not there.
class page_binder {
  public:
    virtual ~page_binder() = default;
    virtual bool bind(void* address, std::size_t bytes, unsigned node) = 0;
    /// Unit of a page, all nodes in turn, as layout::node_of has it.
    virtual bool interleave(void* address, std::size_t bytes) = 0;
    /// The node of the calling thread.
    virtual unsigned current_node() = 0;
};

/// Binds by the system's calls; does nothing where there is one node. `here` must outlive it.
[[nodiscard]] std::unique_ptr<page_binder> system_binder(const topology::machine& here);

/// Any thread may call. Nodes without cores get no pages.
class arena {
  public:
    arena(const topology::machine& here, std::unique_ptr<page_binder> binder);
    arena(const arena&) = delete;
    arena& operator=(const arena&) = delete;
    ~arena();

    /// Never null. Memory is zero. Throws std::bad_alloc, or transfer_error where the unit is refused.
    void* allocate(const allocation_request& request);
    /// False if `address` is none of here. Throws transfer_error if it is, but no allocation begins there (any more).
    bool release(void* address);

    [[nodiscard]] const address_map& addresses() const { return m_map; }
    [[nodiscard]] std::uint64_t bytes_in_use() const;
    /// Allocations whose pages the system did not bind, and left where they are touched first.
    [[nodiscard]] std::uint64_t unbound() const { return m_unbound.load(std::memory_order_relaxed); }

  private:
    std::uintptr_t take_addresses(std::uint64_t bytes, std::uint64_t alignment);
    /// False if the system refuses.
    [[nodiscard]] bool bind(const layout& made, distribution asked);
    void give_memory_back(std::uintptr_t begin, std::uint64_t bytes);
    void give_addresses_back(std::uintptr_t begin, std::uint64_t bytes);

    const topology::machine& m_machine;
    std::unique_ptr<page_binder> m_binder;
    std::vector<unsigned> m_nodes; ///< that have cores
    std::uintptr_t m_begin;
    std::uint64_t m_bytes;
    address_map m_map;
    std::atomic<std::uint64_t> m_next_node{0}, m_unbound{0};
    mutable std::mutex m_mutex; // guards what follows
    std::map<std::uintptr_t, std::uint64_t> m_holes; ///< begin and bytes of addresses that are free
    std::uint64_t m_in_use = 0;
};

} // namespace causeway::tasks
