// SPDX-License-Identifier: Apache-2.0
// Where buffers begin in the process's memory, on devices that work there.
#pragma once

#include <CL/cl.h>

#include <cstddef>

namespace causeway::cl {

/// Null unless keep_address() was told. Any thread.
[[nodiscard]] std::byte* address_of(cl_mem buffer);

/// `buffer` begins at `first` until it is destroyed. Not kept where OpenCL would not say when that is. Any thread.
void keep_address(cl_mem buffer, std::byte* first);

} // namespace causeway::cl
