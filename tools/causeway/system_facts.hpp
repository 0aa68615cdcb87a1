// SPDX-License-Identifier: Apache-2.0
// Facts about the system.
#pragma once

#include <string>

namespace causeway_tool {

std::string processor_name();
/// "Linux 6.1.0 x86_64"
std::string kernel_name();
/// Number of processors that this rank may use, as the library counts them.
unsigned usable_processors();
std::string host_name();
/// "ext4"; its magic number if unknown.
std::string file_system_of(const std::string& directory);

/// Whether the named platform's named device honours user events in wait lists, as the library knows it.
bool waits_for_user_events(const std::string& platform, const std::string& device);

} // namespace causeway_tool
