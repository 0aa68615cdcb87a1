// SPDX-License-Identifier: Apache-2.0
#include "bt_mz/tiles.hpp"

namespace bt_mz {

tile_tables::tile_tables(const mesh& mesh, int rank, const exchange_plan& plan, std::size_t group_size)
    : group(group_size) {
    const auto add = [&](tile_range& range, std::size_t which, std::size_t items) {
        for (std::size_t first = 0; first < items; first += group, ++range.count)
            tiles.push_back({int(which), int(first)});
    };
    const auto own = mesh.zones_of(rank);
    for (const int z : own) {
        const auto& each = mesh.zones()[std::size_t(z)];
        zones.push_back({each.nx, each.ny, each.nz, int(each.first)});
    }
    for (const auto set : {zone_set::all, zone_set::inner, zone_set::outer})
        for (int kind = -1; kind < 3; ++kind) {
            auto& ranges = of[int(set)];
            auto& range = kind < 0 ? ranges.points : ranges.lines[kind];
            range.first = int(tiles.size());
            for (std::size_t at = 0; at < own.size(); ++at) {
                if (set != zone_set::all && mesh.has_remote_neighbour(own[at]) != (set == zone_set::outer)) continue;
                const auto& zone = mesh.zones()[std::size_t(own[at])];
                const int inner[3] = {zone.nx - 2, zone.ny - 2, zone.nz - 2};
                add(range, at, std::size_t(inner[0] * inner[1] * inner[2] / (kind < 0 ? 1 : inner[kind])));
            }
        }
    const auto add_faces = [&](tile_range& range, const std::vector<face_copy>& faces) {
        range.first = int(tiles.size());
        for (std::size_t at = 0; at < faces.size(); ++at) add(range, at, std::size_t(faces[at].along * faces[at].up));
    };
    add_faces(local, plan.local);
    add_faces(outgoing, plan.outgoing);
    add_faces(incoming, plan.incoming);
}

} // namespace bt_mz
