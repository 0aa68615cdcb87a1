// SPDX-License-Identifier: Apache-2.0
#include "bt_mz/tiles.hpp"

namespace bt_mz {

tile_tables::tile_tables(const mesh& mesh, int rank, const exchange_plan& plan, std::size_t group_size)
    : group(group_size) {
    const auto add = [&](tile_range& range, std::size_t which, std::size_t items) {
        for (std::size_t first = 0; first < items; first += group, ++range.count)
            tiles.push_back({int(which), int(first)});
    };
    std::vector<std::size_t> sets[3]; // boxes, by step_part
    const auto add_box = [&](step_part part, const zone& of, int first_row, int rows) {
        if (rows <= 0) return;
        sets[int(part)].push_back(boxes.size());
        boxes.push_back({of.nx, of.ny, of.nz, int(of.first), first_row, rows});
    };
    for (const int z : mesh.zones_of(rank)) {
        const auto& each = mesh.zones()[std::size_t(z)];
        const auto is_remote = [&](side side) {
            return mesh.zones()[std::size_t(each.neighbours[std::size_t(side)])].owner != rank;
        };
        const int rows = each.ny - 2, low = is_remote(south), high = is_remote(north);
        add_box(step_part::whole, each, 1, rows);
        // A boundary's values reach no further than the next row; a line along x has both its ends.
        if (is_remote(west) || is_remote(east) || rows <= low + high) {
            add_box(step_part::late, each, 1, rows);
        } else {
            add_box(step_part::early, each, 1 + low, rows - low - high);
            add_box(step_part::late, each, 1, low);
            add_box(step_part::late, each, rows, high);
        }
    }
    const auto add_items = [&](tile_range& range, step_part part, auto items_of) {
        range.first = int(tiles.size());
        for (const auto box : sets[int(part)]) {
            const auto& [nx, ny, nz, first, first_row, rows, unused, too] = boxes[box];
            add(range, box, std::size_t(items_of(nx - 2, rows, nz - 2)));
        }
    };
    for (const auto part : {step_part::whole, step_part::early, step_part::late}) {
        add_items(of[int(part)].points, part, [](int x, int y, int z) { return x * y * z; });
        add_items(of[int(part)].lines, part, [](int, int y, int z) { return y * z; });
    }
    add_items(y_lines, step_part::whole, [](int x, int, int z) { return x * z; });
    add_items(z_lines, step_part::whole, [](int x, int y, int) { return x * y; });
    const auto add_faces = [&](tile_range& range, const std::vector<face_copy>& faces, std::size_t first) {
        range.first = int(tiles.size());
        for (std::size_t at = 0; at < faces.size(); ++at)
            add(range, first + at, std::size_t(faces[at].along * faces[at].up));
    };
    add_faces(outgoing, plan.outgoing, 0);
    add_faces(local, plan.local, plan.outgoing.size());
    add_faces(incoming, plan.incoming, 0);
}

} // namespace bt_mz
