// SPDX-License-Identifier: Apache-2.0
// Cuts a range of packed bytes into boxes.
#include "endpoints/device/device_endpoint.hpp"

#include <algorithm>

namespace causeway::endpoints {

std::vector<box_piece> split_packed_range(const std::array<std::size_t, 3>& region, std::size_t offset,
                                          std::size_t bytes) {
    const auto row = region[0];
    const auto slice = region[0] * region[1];
    std::vector<box_piece> pieces;
    const auto end = offset + bytes;
    while (offset < end) {
        const auto z = offset / slice;
        const auto y = offset % slice / row;
        const auto x = offset % row;
        const auto left = end - offset;
        box_piece piece{{x, y, z}, {1, 1, 1}, offset};
        if (x != 0 || left < row) {
            piece.region[0] = std::min(row - x, left); // part of a row
        } else if (y != 0 || left < slice) {
            piece.region = {row, std::min(region[1] - y, left / row), 1}; // rows of a slice
        } else {
            piece.region = {row, region[1], left / slice}; // whole slices
        }
        offset += piece.region[0] * piece.region[1] * piece.region[2];
        pieces.push_back(piece);
    }
    return pieces;
}

} // namespace causeway::endpoints
