// SPDX-License-Identifier: Apache-2.0
// Which file system a file lies in, in words.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

namespace causeway::endpoints {

/// The type and the device's number, "file system ext4 8:1". For types that get a new number at each mount, the source
/// and the mount point instead: "file system nfs server:/home at /home". Empty if `fd` is not a regular file's.
/// The text lives as long as the process. Any thread; asks the kernel once for each device.
[[nodiscard]] std::string_view file_system_of(int fd);

/// What /proc/self/mountinfo (proc(5)) says of `device`, or else of the mount with the number `mount`, which a file of
/// btrfs needs: "server:/home at /home". Empty if it says nothing.
[[nodiscard]] std::string mounted_as(std::istream& mountinfo, const std::string& device, std::uint64_t mount);

/// Whether a file system of this type (statfs(2)) is local; FUSE is not. Calls on remote files may wait: close(2) first
/// sends what was written, which may take seconds, and only then reports a failure.
[[nodiscard]] bool is_of_this_machine(unsigned long type);

/// Whether the lock of a file of this mode (stat(2)) and file system lets one writer at a time into its pages. ZFS
/// locks ranges, and devices lock nothing.
[[nodiscard]] bool has_one_writer(mode_t mode, unsigned long type);

} // namespace causeway::endpoints
