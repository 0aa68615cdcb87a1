// SPDX-License-Identifier: Apache-2.0
// Where a box lies in memory: the one place that checks origins, regions and pitches, every sum and product of them.
#pragma once

#include <array>
#include <cstddef>

namespace causeway {

/// Bytes in a row, rows, slices.
using extents = std::array<std::size_t, 3>;

/// Whether slices have to begin at rows (OpenCL 1.2, section 5.2.2, buffers) or anywhere (section 5.3.3, images).
enum class slices { at_rows, anywhere };

enum class box_fault { none, empty_region, row_pitch, slice_pitch, too_large };

/// A box in memory. Without a fault, begin <= end, and all of its bytes lie between them.
struct box_geometry {
    box_fault fault = box_fault::none;
    std::size_t row_pitch = 0, slice_pitch = 0; ///< bytes; computed if given as 0
    std::size_t begin = 0, end = 0;             ///< of its first byte, and behind its last
    std::size_t bytes = 0;                      ///< of the box alone, packed

    /// Whether `size` bytes have room for it.
    [[nodiscard]] bool fits(std::size_t size) const { return fault == box_fault::none && end <= size; }
    /// Whether an object at `address` could hold it: no larger than PTRDIFF_MAX, nor beyond the last address.
    [[nodiscard]] bool fits_at(const void* address) const;
};

/// A pitch of 0 means packed. `too_large` if a number of the box does not fit a size_t.
[[nodiscard]] box_geometry lay_out_box(const extents& origin, const extents& region, std::size_t row_pitch,
                                       std::size_t slice_pitch, slices begin = slices::at_rows);

/// Whether [offset, offset + bytes) lies in `size` bytes.
[[nodiscard]] constexpr bool has_range(std::size_t size, std::size_t offset, std::size_t bytes) {
    return offset <= size && bytes <= size - offset;
}

} // namespace causeway
