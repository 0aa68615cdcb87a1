// SPDX-License-Identifier: Apache-2.0
// Computes with sizes that remember whether they have overflowed.
#include "base/box_geometry.hpp"

#include <cstdint>

namespace causeway {

namespace {

struct checked_size {
    std::size_t value;
    bool has_overflowed = false;

    checked_size operator+(const checked_size& other) const {
        checked_size sum{0, has_overflowed || other.has_overflowed};
        sum.has_overflowed |= __builtin_add_overflow(value, other.value, &sum.value);
        return sum;
    }
    checked_size operator*(const checked_size& other) const {
        checked_size product{0, has_overflowed || other.has_overflowed};
        product.has_overflowed |= __builtin_mul_overflow(value, other.value, &product.value);
        return product;
    }
};

box_geometry with(box_fault fault) {
    box_geometry found;
    found.fault = fault;
    return found;
}

} // namespace

bool box_geometry::fits_at(const void* address) const {
    // No object is larger (C++20, [expr.add]).
    return fits(PTRDIFF_MAX) && end <= UINTPTR_MAX - reinterpret_cast<std::uintptr_t>(address);
}

box_geometry lay_out_box(const extents& origin, const extents& region, std::size_t row_pitch, std::size_t slice_pitch,
                         slices begin) {
    if (region[0] == 0 || region[1] == 0 || region[2] == 0) return with(box_fault::empty_region);
    if (row_pitch == 0) row_pitch = region[0];
    if (row_pitch < region[0]) return with(box_fault::row_pitch);
    const checked_size row{row_pitch};
    const auto packed_slice = row * checked_size{region[1]};
    if (slice_pitch == 0) {
        if (packed_slice.has_overflowed) return with(box_fault::too_large);
        slice_pitch = packed_slice.value;
    }
    // Also where there is one slice, which drivers do not look at.
    if (packed_slice.has_overflowed || slice_pitch < packed_slice.value ||
        (begin == slices::at_rows && slice_pitch % row_pitch != 0))
        return with(box_fault::slice_pitch);
    const checked_size slice{slice_pitch};
    const auto first = checked_size{origin[2]} * slice + checked_size{origin[1]} * row + checked_size{origin[0]};
    const auto last = first + checked_size{region[2] - 1} * slice + checked_size{region[1] - 1} * row +
                      checked_size{region[0]};
    const auto bytes = checked_size{region[0]} * checked_size{region[1]} * checked_size{region[2]};
    if (last.has_overflowed || bytes.has_overflowed) return with(box_fault::too_large);
    return {box_fault::none, row_pitch, slice_pitch, first.value, last.value, bytes.value};
}

} // namespace causeway
