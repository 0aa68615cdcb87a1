// SPDX-License-Identifier: Apache-2.0
// What one launch over many zones reads: which items of which zone each work-group is for.
#pragma once

#include "bt_mz/problem.hpp"

#include <array>
#include <cstddef>
#include <vector>

namespace bt_mz {

/// Which right-hand sides and lines along x of a step: all, those that need no values of other ranks, or the rest.
enum class step_part { whole, early, late };

struct tile_range {
    int first = 0;
    std::size_t count = 0;
};

struct tile_tables {
    tile_tables(const mesh& mesh, int rank, const exchange_plan& plan, std::size_t group);

    std::size_t group;                      ///< items of a tile
    /// Rows of a zone: nx, ny, nz and first point of the zone, first row, count of rows, and two unused.
    std::vector<std::array<int, 8>> boxes;
    std::vector<std::array<int, 2>> tiles;  ///< box or face, first item
    struct {
        tile_range points, lines; ///< inner points; lines along x
    } of[3];                      ///< by step_part
    tile_range y_lines, z_lines;          ///< all
    /// Faces. The local ones follow the outgoing ones, as in one list, and so do their tiles.
    tile_range outgoing, local, incoming;
};

} // namespace bt_mz
