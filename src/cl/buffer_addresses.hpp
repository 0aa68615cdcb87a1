// SPDX-License-Identifier: Apache-2.0
// Where buffers begin in the process's memory, on devices that work there.
#pragma once

#include <CL/cl.h>

#include <cstddef>

namespace causeway::cl {

/// Call once per buffer before its address is kept: asks OpenCL to tell when the buffer is destroyed. Call on the
/// thread that uses the buffer, because PoCL 3.1 adds such callbacks without a lock.
void follow(cl_mem buffer);

/// The address that keep_address() was given for `buffer`; else null. Any thread.
[[nodiscard]] std::byte* address_of(cl_mem buffer);

/// `buffer`, if it is followed, begins at `first` until it is destroyed. Any thread.
void keep_address(cl_mem buffer, std::byte* first);

} // namespace causeway::cl
