// SPDX-License-Identifier: Apache-2.0
// Binds areas of memory to nodes, and threads to cores. Nothing here changes where a thread's other memory goes.
#pragma once

#include "topology/machine.hpp"

#include <cstddef>
#include <span>

namespace causeway::topology {

/// Pages of the area come from this node, named by the system's number, when they are first touched. False if the
/// system refuses.
bool bind_area(void* address, std::size_t bytes, unsigned node_os_index) noexcept;

/// Pages of the area come from these nodes in turn, in ascending order of the system's numbers. Page p (address divided
/// by the page size) comes from node p modulo their count. False if the system refuses.
bool interleave_area(void* address, std::size_t bytes, std::span<const unsigned> node_os_indexes) noexcept;

/// The calling thread runs on the cores beside `node` of this_machine() only. False if the system refuses.
bool bind_thread_to_node(const machine& here, unsigned node) noexcept;

/// The system's number of the node that the page of `address` lies on, by a system call; -1 if it has not been touched
/// yet.
[[nodiscard]] int node_of_page(const void* address) noexcept;

} // namespace causeway::topology
