// SPDX-License-Identifier: Apache-2.0
// Asks for the file system of a file, once for each device.
#include "endpoints/file/file_system.hpp"

#include "base/file_system_name.hpp"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string>

namespace causeway::endpoints {

namespace {

std::string type_of(int fd) {
    struct statfs facts {};
    if (::fstatfs(fd, &facts) != 0) return "unknown";
    return file_system_name(static_cast<unsigned long>(facts.f_type));
}

} // namespace

std::string_view file_system_of(int fd) {
    struct stat facts {};
    if (::fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode)) return {};
    static std::mutex mutex; // guards names
    static auto& names = *new std::map<dev_t, std::string>; // threads may ask while the process ends
    const std::lock_guard lock(mutex);
    auto& name = names[facts.st_dev];
    if (name.empty())
        name = "file system " + type_of(fd) + " " + std::to_string(major(facts.st_dev)) + ":" +
               std::to_string(minor(facts.st_dev));
    return name;
}

bool is_of_this_machine(unsigned long type) {
    constexpr unsigned long of_this_machine[] = {EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC, F2FS_SUPER_MAGIC,
                                                 TMPFS_MAGIC,      RAMFS_MAGIC,     HUGETLBFS_MAGIC,   OVERLAYFS_SUPER_MAGIC};
    const auto number = type & 0xFFFFFFFF; // some kernels extend the sign
    return std::ranges::find(of_this_machine, number) != std::end(of_this_machine);
}

} // namespace causeway::endpoints
