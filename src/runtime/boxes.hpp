// SPDX-License-Identifier: Apache-2.0
// Boxes as the arguments of a call describe them.
#pragma once

#include "endpoints/device/device_endpoint.hpp"

#include <array>
#include <cstddef>
#include <optional>

namespace causeway::core {

using triple = std::optional<std::array<size_t, 3>>; // none for a null pointer
[[nodiscard]] triple copy_of(const size_t* given);

struct box_arguments {
    triple origin, region;
    size_t row_pitch, slice_pitch;
};

/// A box in `bytes` of `whole` ("the buffer"), by the rules of clEnqueueReadBufferRect (OpenCL 1.2, section 5.2.2).
/// Throws transfer_error(invalid_value).
[[nodiscard]] endpoints::box check_box(size_t bytes, const char* whole, const box_arguments& given);

} // namespace causeway::core
