// SPDX-License-Identifier: Apache-2.0
// Areas by hwloc's calls for areas, which leave the thread's own policy as it is.
#include "topology/binding.hpp"

#include "topology/hwloc_handle.hpp"

#include <hwloc.h>

#include <sys/syscall.h>
#include <unistd.h>

namespace causeway::topology {

namespace {

class bitmap {
  public:
    bitmap() : m_set(hwloc_bitmap_alloc()) {}
    bitmap(const bitmap&) = delete;
    bitmap& operator=(const bitmap&) = delete;
    ~bitmap() { hwloc_bitmap_free(m_set); }
    [[nodiscard]] hwloc_bitmap_t get() const { return m_set; }

  private:
    hwloc_bitmap_t m_set;
};

} // namespace

bool bind_area(void* address, std::size_t bytes, unsigned node_os_index) noexcept {
    const bitmap nodes;
    if (!nodes.get()) return false;
    hwloc_bitmap_only(nodes.get(), node_os_index);
    return hwloc_set_area_membind(this_topology(), address, bytes, nodes.get(), HWLOC_MEMBIND_BIND,
                                  HWLOC_MEMBIND_BYNODESET) == 0;
}

bool interleave_area(void* address, std::size_t bytes, std::span<const unsigned> node_os_indexes) noexcept {
    const bitmap nodes;
    if (!nodes.get()) return false;
    for (const auto each : node_os_indexes) hwloc_bitmap_set(nodes.get(), each);
    return hwloc_set_area_membind(this_topology(), address, bytes, nodes.get(), HWLOC_MEMBIND_INTERLEAVE,
                                  HWLOC_MEMBIND_BYNODESET) == 0;
}

bool bind_thread_to_node(const machine& here, unsigned node) noexcept {
    const bitmap units;
    const auto object = hwloc_get_numanode_obj_by_os_index(this_topology(), here.nodes[node].os_index);
    if (!object || !units.get()) return false;
    hwloc_bitmap_and(units.get(), object->cpuset, hwloc_topology_get_allowed_cpuset(this_topology()));
    return hwloc_set_cpubind(this_topology(), units.get(), HWLOC_CPUBIND_THREAD) == 0;
}

int node_of_page(const void* address) noexcept {
    void* page = const_cast<void*>(address);
    int node = -1;
    if (::syscall(SYS_move_pages, 0, 1ul, &page, nullptr, &node, 0) != 0 || node < 0) return -1;
    return node;
}

} // namespace causeway::topology
