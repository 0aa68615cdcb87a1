// SPDX-License-Identifier: Apache-2.0
// Which file system a file lies in, in words.
#pragma once

#include <string_view>

namespace causeway::endpoints {

/// "file system ext4 8:1": the type and the device's number; empty if the descriptor is not that of a regular file. The
/// text lives as long as the process. Any thread; asks the kernel for the type once for each device.
[[nodiscard]] std::string_view file_system_of(int fd);

} // namespace causeway::endpoints
