// SPDX-License-Identifier: Apache-2.0
// Cutting packed ranges of a box into boxes.
#include "endpoints/device/device_endpoint.hpp"

#include <gtest/gtest.h>

using namespace causeway::endpoints;

TEST(split_packed_range, covers_every_range_of_a_box_once_and_in_order) {
    const std::array<std::size_t, 3> region{3, 4, 5};
    const std::size_t total = 3 * 4 * 5;
    for (std::size_t offset = 0; offset <= total; ++offset) {
        for (std::size_t bytes = 0; offset + bytes <= total; ++bytes) {
            const auto pieces = split_packed_range(region, offset, bytes);
            ASSERT_LE(pieces.size(), 5u);
            std::size_t next = offset;
            for (const auto& piece : pieces) {
                ASSERT_EQ(piece.packed_offset, next);
                for (std::size_t z = 0; z < piece.region[2]; ++z)
                    for (std::size_t y = 0; y < piece.region[1]; ++y)
                        for (std::size_t x = 0; x < piece.region[0]; ++x) {
                            const auto place = (piece.origin[0] + x) + (piece.origin[1] + y) * region[0] +
                                               (piece.origin[2] + z) * region[0] * region[1];
                            ASSERT_EQ(place, next);
                            ++next;
                        }
            }
            ASSERT_EQ(next, offset + bytes);
        }
    }
}
