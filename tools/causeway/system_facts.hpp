// SPDX-License-Identifier: Apache-2.0
// What the system says of itself.
#pragma once

#include <string>

namespace causeway_tool {

std::string processor_name();
/// "Linux 6.1.0 x86_64"
std::string kernel_name();
/// Of the processors of this machine, those that this rank may use, as the library counts them.
unsigned usable_processors();
std::string host_name();
/// "ext4", or its number if it is none of those that are known.
std::string file_system_of(const std::string& directory);

/// Of the OpenCL device that the platform of this name calls so, as the library knows it.
bool waits_for_user_events(const std::string& platform, const std::string& device);

} // namespace causeway_tool
