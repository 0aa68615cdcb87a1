// SPDX-License-Identifier: Apache-2.0
// Owns a topology of hwloc.
#pragma once

#include "base/error.hpp"

#include <hwloc.h>

namespace causeway::topology {

/// Initialised but not loaded, so that a caller can set the source first.
class hwloc_handle {
  public:
    hwloc_handle() {
        if (hwloc_topology_init(&m_topology) != 0)
            throw transfer_error(status::out_of_host_memory, "hwloc: out of memory");
    }
    hwloc_handle(const hwloc_handle&) = delete;
    hwloc_handle& operator=(const hwloc_handle&) = delete;
    ~hwloc_handle() { hwloc_topology_destroy(m_topology); }
    [[nodiscard]] hwloc_topology_t get() const { return m_topology; }

  private:
    hwloc_topology_t m_topology = nullptr;
};

/// The topology of this machine, found once. It lives until the process ends. Any thread may ask.
[[nodiscard]] hwloc_topology_t this_topology();

} // namespace causeway::topology
