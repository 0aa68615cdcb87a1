// SPDX-License-Identifier: Apache-2.0
// The cgroups of this process, of version 1 and 2: what a container or a batch system allows it.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace causeway::cgroup {

/// Calls `look` with the folder of this process's cgroup for `controller` ("cpu", "memory"), then with its parents,
/// whose limits hold too. `root` has the folders proc and sys. Some folders may be missing.
void for_each_folder(const std::filesystem::path& root, std::string_view controller,
                     const std::function<void(const std::filesystem::path&)>& look);

} // namespace causeway::cgroup
