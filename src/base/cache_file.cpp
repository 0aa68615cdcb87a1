// SPDX-License-Identifier: Apache-2.0
// Asks the environment as the XDG base directory specification says.
#include "base/cache_file.hpp"

#include <cstdlib>
#include <filesystem>

namespace causeway {

std::string cache_file(std::string_view name) {
    // A path that is not absolute counts as none.
    const auto folder_in = [](const char* variable) {
        const char* const value = std::getenv(variable);
        return std::filesystem::path(value != nullptr && value[0] == '/' ? value : "");
    };
    auto folder = folder_in("XDG_CACHE_HOME");
    if (folder.empty()) {
        folder = folder_in("HOME");
        if (folder.empty()) return "";
        folder /= ".cache";
    }
    return (folder / "causeway" / name).string();
}

} // namespace causeway
