// SPDX-License-Identifier: Apache-2.0
// Asks for the file system of a file, once for each device.
#include "endpoints/file/file_system.hpp"

#include "base/file_system_name.hpp"
#include "base/whole_file.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <sstream>
#include <utility>

namespace causeway::endpoints {

namespace {

constexpr unsigned long zfs = 0x2FC12FC1; // in no header

std::string type_of(int fd) {
    struct statfs facts{};
    if (::fstatfs(fd, &facts) != 0) return "unknown";
    return file_system_name(static_cast<unsigned long>(facts.f_type));
}

/// 0, which no mount has, before Linux 5.8.
std::uint64_t mount_of(int fd) {
    struct statx facts{};
    const bool is_known = ::statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &facts) == 0 &&
                          (facts.stx_mask & STATX_MNT_ID) != 0;
    return is_known ? facts.stx_mnt_id : 0;
}

} // namespace

std::string_view file_system_of(int fd) {
    struct stat facts{};
    if (::fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode)) return {};
    static std::mutex mutex; // guards names
    static auto& names = *new std::map<dev_t, std::string>; // threads may ask while the process ends
    const std::lock_guard lock(mutex);
    auto& name = names[facts.st_dev];
    if (!name.empty()) return name;
    auto which = std::to_string(major(facts.st_dev)) + ":" + std::to_string(minor(facts.st_dev));
    // A number that belongs to no disk is another file system's after the next mount.
    if (major(facts.st_dev) == 0) {
        std::istringstream mounts(read_file("/proc/self/mountinfo").value_or(""));
        if (auto mounted = mounted_as(mounts, which, mount_of(fd)); !mounted.empty()) which = std::move(mounted);
    }
    name = "file system " + type_of(fd) + " " + which;
    return name;
}

std::string mounted_as(std::istream& mountinfo, const std::string& device, std::uint64_t mount) {
    std::string of_mount;
    for (std::string line; std::getline(mountinfo, line);) {
        std::istringstream fields(line);
        std::uint64_t number = 0;
        std::string parent, its_device, root, point, field, type, source;
        fields >> number >> parent >> its_device >> root >> point;
        while (fields >> field && field != "-") {} // any number of optional ones
        if (!(fields >> type >> source)) continue;
        const auto found = source + " at " + point;
        if (its_device == device) return found;
        if (number == mount) of_mount = found;
    }
    return of_mount;
}

bool has_one_writer(mode_t mode, unsigned long type) {
    return S_ISREG(mode) && is_of_this_machine(type) && (type & 0xFFFFFFFF) != zfs;
}

bool is_of_this_machine(unsigned long type) {
    constexpr unsigned long bcachefs = 0xCA451A4E, exfat = 0x2011BAB0, ntfs3 = 0x7366746E; // in no header
    constexpr unsigned long of_this_machine[] = {EXT4_SUPER_MAGIC,
                                                 XFS_SUPER_MAGIC,
                                                 BTRFS_SUPER_MAGIC,
                                                 F2FS_SUPER_MAGIC,
                                                 MSDOS_SUPER_MAGIC,
                                                 zfs,
                                                 bcachefs,
                                                 exfat,
                                                 ntfs3,
                                                 TMPFS_MAGIC,
                                                 RAMFS_MAGIC,
                                                 HUGETLBFS_MAGIC,
                                                 OVERLAYFS_SUPER_MAGIC};
    const auto number = type & 0xFFFFFFFF; // some kernels extend the sign
    return std::ranges::find(of_this_machine, number) != std::end(of_this_machine);
}

} // namespace causeway::endpoints
