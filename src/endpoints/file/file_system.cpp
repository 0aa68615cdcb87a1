// SPDX-License-Identifier: Apache-2.0
// Names of file systems, by the numbers of linux/magic.h and of those that are not in there.
#include "endpoints/file/file_system.hpp"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include <array>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace causeway::endpoints {

namespace {

constexpr std::pair<unsigned long, const char*> types[] = {
    {0xEF53, "ext4"},       {0x58465342, "xfs"},    {0x9123683E, "btrfs"}, {0x01021994, "tmpfs"},
    {0x6969, "nfs"},        {0x794C7630, "overlay"}, {0x0BD00BD0, "lustre"}, {0x47504653, "gpfs"},
    {0x2FC12FC1, "zfs"},    {0xFF534D42, "cifs"},   {0x65735546, "fuse"},  {0x19830326, "beegfs"},
    {0x958458F6, "hugetlbfs"}, {0xF2F52010, "f2fs"}, {0xCA451A4E, "bcachefs"}, {0x01021997, "9p"}};

std::string type_of(int fd) {
    struct statfs facts {};
    if (::fstatfs(fd, &facts) != 0) return "unknown";
    const auto number = static_cast<unsigned long>(facts.f_type) & 0xFFFFFFFF;
    for (const auto& [known, name] : types)
        if (known == number) return name;
    std::array<char, 16> text{};
    std::snprintf(text.data(), text.size(), "0x%lx", number);
    return text.data();
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

} // namespace causeway::endpoints
