// SPDX-License-Identifier: Apache-2.0
// The cgroups of this process, of version 1 and 2: what a container or a batch system allows it.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace causeway::cgroup {

/// Calls `look` with the folder of this process's cgroup that has `controller` ("cpu", "memory"), and with those around
/// it, which bound it, too. `root` has the folders proc and sys. Not all of the folders need be there.
void for_each_folder(const std::filesystem::path& root, std::string_view controller,
                     const std::function<void(const std::filesystem::path&)>& look);

} // namespace causeway::cgroup
