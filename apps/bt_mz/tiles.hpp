// SPDX-License-Identifier: Apache-2.0
// What one launch over many zones reads: which items of which zone each work-group is for.
#pragma once

#include "bt_mz/problem.hpp"

#include <array>
#include <cstddef>
#include <vector>

namespace bt_mz {

enum class zone_set { all, inner, outer }; ///< inner: all neighbours are this rank's own

struct tile_range {
    int first = 0;
    std::size_t count = 0;
};

struct tile_tables {
    tile_tables(const mesh& mesh, int rank, const exchange_plan& plan, std::size_t group);

    std::size_t group;                      ///< items of a tile
    std::vector<std::array<int, 4>> zones;  ///< nx, ny, nz, first point
    std::vector<std::array<int, 2>> tiles;  ///< zone or face, first item
    struct {
        tile_range points, lines[3]; ///< inner points; lines along each direction
    } of[3];                         ///< by zone_set
    tile_range local, outgoing, incoming; ///< faces
};

} // namespace bt_mz
