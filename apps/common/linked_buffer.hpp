// SPDX-License-Identifier: Apache-2.0
// Buffers that other devices reach over a direct link, where there is one.
#pragma once

#include "common/opencl.hpp"

#include <causeway/buffer.h>

namespace apps {

/// Of one device of the context.
inline buffer create_linked_buffer(cl_context context, cl_device_id device, std::size_t size_bytes) {
    cl_int code = CL_SUCCESS;
    buffer created(causeway_buffer_create(context, device, CL_MEM_READ_WRITE, size_bytes, &code));
    check(code, "causeway_buffer_create");
    return created;
}

} // namespace apps
