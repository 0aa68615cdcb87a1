// SPDX-License-Identifier: Apache-2.0
// Asks the system for names and versions.
#include "system_facts.hpp"

#include "base/file_system_name.hpp"
#include "base/driver_quirks.hpp"
#include "base/processors.hpp"

#include <sys/statfs.h>
#include <sys/utsname.h>

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

unsigned usable_processors() { return causeway::processors::of_rank(); }

std::string host_name() {
    utsname name{};
    return uname(&name) == 0 ? name.nodename : "unknown";
}

bool waits_for_user_events(const std::string& platform, const std::string& device) {
    return !causeway::runs_inside_enqueue(platform, device);
}

std::string file_system_of(const std::string& directory) {
    struct statfs found{};
    if (statfs(directory.c_str(), &found) != 0) return "unknown";
    return causeway::file_system_name(static_cast<unsigned long>(found.f_type));
}

} // namespace causeway_tool
