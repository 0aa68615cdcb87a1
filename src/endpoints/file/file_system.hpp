// SPDX-License-Identifier: Apache-2.0
// Which file system a file lies in, in words.
#pragma once

#include <string_view>

namespace causeway::endpoints {

/// "file system ext4 8:1": the type and the device's number; empty if the descriptor is not that of a regular file. The
/// text lives as long as the process. Any thread; asks the kernel for the type once for each device.
[[nodiscard]] std::string_view file_system_of(int fd);

/// Whether a file system of this type (statfs(2)) is this machine's. What is done to a file of another one, or of FUSE, may wait
/// for it: close(2) first sends there what has been written, which may take seconds, and tells only then that it failed.
[[nodiscard]] bool is_of_this_machine(unsigned long type);

} // namespace causeway::endpoints
