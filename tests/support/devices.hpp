// SPDX-License-Identifier: Apache-2.0
// Every device of every platform that the OpenCL loader shows.
#pragma once

#include <CL/cl.h>

#include <string>
#include <vector>

namespace support {

struct device_under_test {
    cl_platform_id platform = nullptr;
    cl_device_id device = nullptr;
    std::string name; // vendor and index within the platform, as "pocl_0"
};

/// In the loader's order; the same list at each call.
[[nodiscard]] const std::vector<device_under_test>& all_devices();

} // namespace support
