// SPDX-License-Identifier: Apache-2.0
// A machine as schedulers see it: memory nodes, cores beside them, distances between nodes, caches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace causeway::topology {

/// Memory with an address range of its own: a NUMA node, or the home cache of a tile.
struct memory_node {
    unsigned os_index = 0;       ///< the operating system's number, which may leave gaps
    std::uint64_t bytes = 0;     ///< 0 where it is not known
    std::vector<unsigned> cores; ///< positions in machine::cores; empty for a node with memory only
};

struct core {
    unsigned os_index = 0; ///< of its first processing unit
    unsigned node = 0;     ///< position in machine::nodes
};

/// Nodes and cores are numbered from 0 without gaps; this_machine() holds only what this process may use.
struct machine {
    std::string name;
    std::vector<memory_node> nodes;
    std::vector<core> cores;
    std::vector<double> distances; ///< row-major, from row to column; a node's own memory is 1
    std::uint64_t cache_bytes = 0; ///< of one last-level cache
    unsigned cores_per_cache = 1;  ///< cores that share one
    std::size_t page_bytes = 4096;
    unsigned columns = 0; ///< of a mesh of tiles; else 0

    /// Ratio of the access time from `from` to memory of `to` to that of its own memory.
    [[nodiscard]] double distance(std::size_t from, std::size_t to) const {
        return distances[from * nodes.size() + to];
    }
    /// Most cores beside one node.
    [[nodiscard]] unsigned cores_per_node() const;
};

/// The machine that this process runs on, without what it may not use.
[[nodiscard]] machine this_machine();

/// A machine from hwloc's synthetic description ("node:4 core:2 pu:1") or XML file (name ends in .xml). Throws
/// transfer_error with hwloc's reason.
[[nodiscard]] machine described_machine(const std::string& description);

/// The 48 cores and 8 nodes of four Opteron 6172, with the distances that its firmware tells.
[[nodiscard]] machine opteron_48();

/// Tiles of one core and one home cache each, on a mesh of `columns`. The last `missing` tiles of the last row are left
/// out.
[[nodiscard]] machine tile_mesh(unsigned columns, unsigned rows, unsigned missing);

} // namespace causeway::topology
