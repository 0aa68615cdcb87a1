// SPDX-License-Identifier: Apache-2.0
// The kernel's name for this boot, and the machine's own.
#include "base/host.hpp"

#include "base/whole_file.hpp"

#include <sys/utsname.h>

#include <functional>

namespace causeway {

std::string host_identity() {
    const auto boot = first_line_of("/proc/sys/kernel/random/boot_id");
    // Two copies of one virtual machine have the same boot, but hardly the same name.
    utsname host{};
    (void)::uname(&host);
    return boot + "/" + host.nodename;
}

std::uint64_t host_number() { return std::hash<std::string>{}(host_identity()); }

} // namespace causeway
