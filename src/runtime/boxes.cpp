// SPDX-License-Identifier: Apache-2.0
// Refuses boxes that OpenCL would refuse.
#include "runtime/boxes.hpp"

#include "base/box_geometry.hpp"
#include "base/error.hpp"

#include <string>

namespace causeway::core {

namespace {

[[noreturn]] void refuse(const std::string& why) { throw transfer_error(status::invalid_value, why); }

} // namespace

triple copy_of(const size_t* given) {
    if (given == nullptr) return {};
    return std::array<size_t, 3>{given[0], given[1], given[2]};
}

endpoints::box check_box(size_t bytes, const char* whole, const box_arguments& given) {
    if (!given.origin || !given.region) refuse("the origin or the region of the box is null");
    endpoints::box shape;
    shape.origin = *given.origin;
    shape.region = *given.region;
    const auto laid = lay_out_box(shape.origin, shape.region, given.row_pitch, given.slice_pitch);
    switch (laid.fault) {
    case box_fault::none: break;
    case box_fault::empty_region: refuse("the region of the box is empty");
    case box_fault::row_pitch:
        refuse("the row pitch " + std::to_string(given.row_pitch) + " is less than a row of " +
               std::to_string(shape.region[0]));
    case box_fault::slice_pitch:
        refuse("the slice pitch " + std::to_string(given.slice_pitch) + " is less than a slice of " +
               std::to_string(shape.region[1]) + " rows or no multiple of the row pitch");
    case box_fault::too_large: refuse("the box is larger than any memory");
    }
    if (!laid.fits(bytes)) refuse("the box reaches beyond " + std::string(whole) + " of " + bytes_text(bytes));
    shape.row_pitch = laid.row_pitch;
    shape.slice_pitch = laid.slice_pitch;
    return shape;
}

} // namespace causeway::core
