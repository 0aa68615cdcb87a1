// SPDX-License-Identifier: Apache-2.0
// Names of file systems, by the numbers of linux/magic.h, and of those that are not in there or only since lately.
#include "base/file_system_name.hpp"

#include <linux/magic.h>

#include <array>
#include <cstdio>
#include <utility>

namespace causeway {

namespace {

constexpr std::pair<unsigned long, const char*> names[] = {{EXT4_SUPER_MAGIC, "ext4"}, // and its forerunners
                                                           {XFS_SUPER_MAGIC, "xfs"},
                                                           {BTRFS_SUPER_MAGIC, "btrfs"},
                                                           {F2FS_SUPER_MAGIC, "f2fs"},
                                                           {REISERFS_SUPER_MAGIC, "reiserfs"},
                                                           {MSDOS_SUPER_MAGIC, "vfat"},
                                                           {ISOFS_SUPER_MAGIC, "iso9660"},
                                                           {SQUASHFS_MAGIC, "squashfs"},
                                                           {0x2FC12FC1, "zfs"},
                                                           {0xCA451A4E, "bcachefs"},
                                                           {0x3153464A, "jfs"},
                                                           {0x2011BAB0, "exfat"},
                                                           {0x5346544E, "ntfs"},
    // memory
                                                           {TMPFS_MAGIC, "tmpfs"},
                                                           {RAMFS_MAGIC, "ramfs"},
                                                           {HUGETLBFS_MAGIC, "hugetlbfs"},
                                                           {PROC_SUPER_MAGIC, "proc"},
                                                           {SYSFS_MAGIC, "sysfs"},
    // over others
                                                           {OVERLAYFS_SUPER_MAGIC, "overlay"},
                                                           {ECRYPTFS_SUPER_MAGIC, "ecryptfs"},
                                                           {AUTOFS_SUPER_MAGIC, "autofs"},
                                                           {0x65735546, "fuse"},
                                                           {0x61756673, "aufs"},
    // of other machines
                                                           {NFS_SUPER_MAGIC, "nfs"},
                                                           {AFS_SUPER_MAGIC, "afs"},
                                                           {0x6B414653, "afs"},
                                                           {OCFS2_SUPER_MAGIC, "ocfs2"},
                                                           {V9FS_MAGIC, "9p"},
                                                           {SMB_SUPER_MAGIC, "smb"},
                                                           {0xFF534D42, "cifs"},
                                                           {0xFE534D42, "cifs"},
                                                           {0x00C36400, "ceph"},
                                                           {0x0BD00BD0, "lustre"},
                                                           {0x47504653, "gpfs"},
                                                           {0x19830326, "beegfs"},
                                                           {0x01161970, "gfs2"},
                                                           {0x20030528, "orangefs"},
                                                           {0xAAD7AAEA, "panfs"},
                                                           {0x786F4256, "vboxsf"},
                                                           {0xBACBACBC, "vmhgfs"}};

} // namespace

std::string file_system_name(unsigned long type) {
    const auto number = type & 0xFFFFFFFF; // some kernels extend the sign
    for (const auto& [known, name] : names)
        if (known == number) return name;
    std::array<char, 16> text{};
    std::snprintf(text.data(), text.size(), "0x%lx", number);
    return text.data();
}

} // namespace causeway
