// SPDX-License-Identifier: Apache-2.0
// The name of a file system.
#pragma once

#include <string>

namespace causeway {

/// "ext4", of the number that statfs(2) gives in f_type; "0x4711" if it is none of those that are known.
[[nodiscard]] std::string file_system_name(unsigned long type);

} // namespace causeway
