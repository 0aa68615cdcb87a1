// SPDX-License-Identifier: Apache-2.0
// The functions behind the slots of the table, declared with OpenCL's own types. They live in a namespace: plain names
// would be taken for the loader's.
#pragma once

#include "platform/opencl.hpp"

#include <type_traits>

namespace causeway::platform::entry {

#define CAUSEWAY_ENTRY(name) std::remove_pointer_t<cl_api_##name> name;
#define CAUSEWAY_REFUSED(name, code)
#include "platform/entry_points.def"
#undef CAUSEWAY_ENTRY
#undef CAUSEWAY_REFUSED

} // namespace causeway::platform::entry

namespace causeway::platform {

/// clAttachBufferToDevice of CL/cl_cluster.h.
cl_int CL_API_CALL attach_buffer_to_device(cl_mem buffer, cl_device_id device);

} // namespace causeway::platform
