// SPDX-License-Identifier: Apache-2.0
// Machines that are known without asking anyone.
#include "topology/machine.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace causeway::topology {

unsigned machine::cores_per_node() const {
    std::size_t most = 1;
    for (const auto& node : nodes) most = std::max(most, node.cores.size());
    return static_cast<unsigned>(most);
}

machine opteron_48() {
    // As the firmware of four-socket servers with these processors tells it (SLIT): two dies to a socket, 22 for two
    // hops.
    constexpr std::array<std::array<int, 8>, 8> firmware = {{{10, 16, 16, 22, 16, 22, 16, 22},
                                                             {16, 10, 22, 16, 16, 22, 22, 16},
                                                             {16, 22, 10, 16, 16, 16, 16, 16},
                                                             {22, 16, 16, 10, 16, 16, 22, 22},
                                                             {16, 16, 16, 16, 10, 16, 16, 22},
                                                             {22, 22, 16, 16, 16, 10, 22, 16},
                                                             {16, 22, 16, 22, 16, 22, 10, 16},
                                                             {22, 16, 16, 22, 22, 16, 16, 10}}};
    machine made;
    made.name = "four Opteron 6172 (8 nodes, 48 cores)";
    made.cache_bytes = 5u << 20;
    made.cores_per_cache = 6;
    for (unsigned node = 0; node < 8; ++node) {
        made.nodes.push_back({node, 16ull << 30, {}});
        for (unsigned each = 0; each < 6; ++each) {
            made.nodes.back().cores.push_back(static_cast<unsigned>(made.cores.size()));
            made.cores.push_back({node * 6 + each, node});
        }
        for (const auto to : firmware[node]) made.distances.push_back(to / 10.0);
    }
    return made;
}

machine tile_mesh(unsigned columns, unsigned rows, unsigned missing) {
    machine made;
    const unsigned tiles = columns * rows - missing;
    made.name = "mesh of " + std::to_string(columns) + " x " + std::to_string(rows) + " tiles";
    made.columns = columns;
    made.cache_bytes = 8u << 10; // what Algorithm 3 compares with: the first-level cache
    made.page_bytes = 64; // home caches own lines
    for (unsigned tile = 0; tile < tiles; ++tile) {
        made.nodes.push_back({tile, 64u << 10, {tile}});
        made.cores.push_back({tile, tile});
        for (unsigned other = 0; other < tiles; ++other) {
            const int across = std::abs(static_cast<int>(tile % columns) - static_cast<int>(other % columns));
            const int down = std::abs(static_cast<int>(tile / columns) - static_cast<int>(other / columns));
            // The paper's Figure 5: another tile's cache answers after four times as long, the farthest after six.
            const int farthest = static_cast<int>(columns + rows) - 2;
            made.distances.push_back(tile == other ? 1.0 : 4.0 + 2.0 * (across + down - 1) / (farthest - 1));
        }
    }
    return made;
}

} // namespace causeway::topology
