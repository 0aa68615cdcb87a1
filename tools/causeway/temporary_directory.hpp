// SPDX-License-Identifier: Apache-2.0
// Where temporary files go.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace causeway_tool {

/// TMPDIR, else the system's default. Throws std::runtime_error, with its name, if there is no such directory.
inline std::filesystem::path temporary_directory() {
    std::error_code failed;
    auto found = std::filesystem::temp_directory_path(failed);
    if (!failed) return found;
    const char* const named = std::getenv("TMPDIR");
    throw std::runtime_error("no directory for temporary files: TMPDIR is " +
                             std::string(named != nullptr ? named : "not set") + ": " + failed.message());
}

} // namespace causeway_tool
