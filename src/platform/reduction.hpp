// SPDX-License-Identifier: Apache-2.0
// Adds buffers element by element, by a kernel of the driver.
#pragma once

#include "platform/place.hpp"

namespace causeway::platform {

/// Bytes of an element of a collective's data type; throws CL_INVALID_VALUE for one that cannot be added.
[[nodiscard]] size_t element_size(cl_channel_type type);

/// Enqueues sum = first + second on a queue of `at`, whose driver's buffers they are.
[[nodiscard]] cl_int enqueue_sum(place& at, cl_command_queue queue, cl_channel_type type, cl_mem first, cl_mem second,
                                 cl_mem sum, size_t bytes, cl_uint waits, const cl_event* list, cl_event* event);

} // namespace causeway::platform
