// SPDX-License-Identifier: Apache-2.0
// Machines as hwloc finds or reads them.
#include "base/error.hpp"
#include "topology/hwloc_handle.hpp"
#include "topology/machine.hpp"

#include <hwloc.h>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

namespace causeway::topology {

namespace {

/// Distances of all pairs of the nodes in `made`; hwloc may list more nodes than there are here, and in another order.
void read_distances(hwloc_topology_t topology, machine& made) {
    const auto count = made.nodes.size();
    made.distances.assign(count * count, 2.0); // where nobody says: another node is twice as far
    for (std::size_t node = 0; node < count; ++node) made.distances[node * count + node] = 1.0;
    hwloc_distances_s* found = nullptr;
    unsigned wanted = 1;
    if (hwloc_distances_get_by_type(topology, HWLOC_OBJ_NUMANODE, &wanted, &found, HWLOC_DISTANCES_KIND_MEANS_LATENCY,
                                    0) != 0 ||
        wanted == 0)
        return;
    const auto position = [&](unsigned index) -> std::size_t {
        for (std::size_t node = 0; found->objs[index] && node < count; ++node)
            if (made.nodes[node].os_index == found->objs[index]->os_index) return node;
        return count;
    };
    for (unsigned row = 0; row < found->nbobjs; ++row) {
        const auto from = position(row);
        const auto own = static_cast<double>(found->values[row * found->nbobjs + row]);
        if (from == count || own <= 0) continue;
        for (unsigned column = 0; column < found->nbobjs; ++column) {
            const auto to = position(column);
            const auto value = static_cast<double>(found->values[row * found->nbobjs + column]);
            if (to != count && value > 0) made.distances[from * count + to] = value / own;
        }
    }
    hwloc_distances_release(topology, found);
}

/// What has a worker: a core, or a hardware thread where the system tells of no cores.
hwloc_obj_type_t kind_of_core(hwloc_topology_t topology) {
    return hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE) > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
}

void read_caches(hwloc_topology_t topology, machine& made) {
    for (const auto type : {HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L1CACHE}) {
        const auto cache = hwloc_get_obj_by_type(topology, type, 0);
        if (!cache || cache->attr->cache.size == 0) continue;
        made.cache_bytes = cache->attr->cache.size;
        made.cores_per_cache = static_cast<unsigned>(
            std::max(1, hwloc_get_nbobjs_inside_cpuset_by_type(topology, cache->cpuset, kind_of_core(topology))));
        return;
    }
    made.cache_bytes = 1u << 20; // a synthetic machine need not have caches
}

machine read(hwloc_topology_t topology, std::string name) {
    machine made;
    made.name = std::move(name);
    for (hwloc_obj_t node = nullptr; (node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node));)
        if (hwloc_bitmap_isset(hwloc_topology_get_allowed_nodeset(topology), node->os_index))
            made.nodes.push_back({node->os_index, node->attr->numanode.local_memory, {}});
    if (made.nodes.empty()) made.nodes.push_back({0, 0, {}});
    const auto allowed = hwloc_topology_get_allowed_cpuset(topology);
    const auto kind = kind_of_core(topology);
    for (hwloc_obj_t core = nullptr; (core = hwloc_get_next_obj_by_type(topology, kind, core));) {
        if (!hwloc_bitmap_intersects(core->cpuset, allowed)) continue;
        const auto first = static_cast<unsigned>(hwloc_bitmap_first(core->cpuset));
        // A core beside several nodes (memory of two kinds) belongs to the first of them.
        for (std::size_t node = 0; node < made.nodes.size(); ++node)
            if (core->nodeset && hwloc_bitmap_isset(core->nodeset, made.nodes[node].os_index)) {
                made.nodes[node].cores.push_back(static_cast<unsigned>(made.cores.size()));
                made.cores.push_back({first, static_cast<unsigned>(node)});
                break;
            }
    }
    if (made.cores.empty())
        throw transfer_error(status::invalid_value, made.name + ": no core that this process may use");
    read_distances(topology, made);
    read_caches(topology, made);
    if (const auto page = ::sysconf(_SC_PAGESIZE); page > 0) made.page_bytes = static_cast<std::size_t>(page);
    return made;
}

} // namespace

hwloc_topology_t this_topology() {
    // Left alone at exit: threads of the program may still ask.
    static const auto handle = [] {
        auto* made = new hwloc_handle;
        // Also what taskset and mpirun leave out. Where threads are bound apart, all of the machine stays.
        hwloc_topology_set_flags(made->get(),
                                 HWLOC_TOPOLOGY_FLAG_RESTRICT_TO_CPUBINDING | HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM);
        if (hwloc_topology_load(made->get()) != 0)
            throw transfer_error(status::out_of_resources, "hwloc cannot read this machine's topology");
        return made;
    }();
    return handle->get();
}

machine this_machine() { return read(this_topology(), "this machine"); }

machine described_machine(const std::string& description) {
    hwloc_handle handle;
    const bool is_file = description.ends_with(".xml");
    errno = 0;
    const int set = is_file ? hwloc_topology_set_xml(handle.get(), description.c_str())
                            : hwloc_topology_set_synthetic(handle.get(), description.c_str());
    if (set != 0 || hwloc_topology_load(handle.get()) != 0) {
        const std::string reason = errno == ENOENT ? errno_text(errno) : "hwloc cannot read it";
        throw transfer_error(status::invalid_value,
                             (is_file ? "the machine " : "the synthetic machine ") + description + ": " + reason);
    }
    return read(handle.get(), description);
}

} // namespace causeway::topology
