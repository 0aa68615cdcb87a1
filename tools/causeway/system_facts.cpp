// SPDX-License-Identifier: Apache-2.0
// Asks the system and MPI for their names and versions.
#include "system_facts.hpp"

#include <mpi.h>

#include <sys/statfs.h>
#include <sys/utsname.h>

#include <cstddef>
#include <cstdio>
#include <fstream>

namespace causeway_tool {

std::string processor_name() {
    std::ifstream information("/proc/cpuinfo");
    for (std::string text; std::getline(information, text);)
        if (text.starts_with("model name")) {
            const auto colon = text.find(": ");
            if (colon != std::string::npos) return text.substr(colon + 2);
        }
    return "unknown";
}

std::string kernel_name() {
    utsname name{};
    if (uname(&name) != 0) return "unknown";
    return std::string(name.sysname) + " " + name.release + " " + name.machine;
}

std::string host_name() {
    utsname name{};
    return uname(&name) == 0 ? name.nodename : "unknown";
}

std::string mpi_name() {
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    MPI_Get_library_version(text, &length);
    std::string name(text, std::size_t(length));
    return name.substr(0, name.find_first_of("\n\r,"));
}

std::string file_system_of(const std::string& directory) {
    struct statfs found {};
    if (statfs(directory.c_str(), &found) != 0) return "unknown";
    switch (static_cast<unsigned long>(found.f_type)) { // statfs(2)
    case 0x01021994: return "tmpfs";
    case 0xef53: return "ext4";
    case 0x58465342: return "xfs";
    case 0x9123683e: return "btrfs";
    case 0x794c7630: return "overlay";
    case 0x6969: return "nfs";
    default: break;
    }
    char number[24];
    std::snprintf(number, sizeof number, "type 0x%lx", static_cast<unsigned long>(found.f_type));
    return number;
}

} // namespace causeway_tool
