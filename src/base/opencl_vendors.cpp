// SPDX-License-Identifier: Apache-2.0
// Reads folders and .icd files.
#include "base/opencl_vendors.hpp"

#include "base/whole_file.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace causeway::opencl_vendors {

namespace {

namespace fs = std::filesystem;

implementation named_by(const fs::path& file) { return {file.string(), first_line_of(file)}; }

} // namespace

std::string default_folder() {
    const char* const named = ::secure_getenv("OPENCL_VENDOR_PATH");
    return named == nullptr || *named == '\0' ? "/etc/OpenCL/vendors" : named;
}

source source_of(const std::string& value) {
    const std::string name = value.empty() ? default_folder() : value;
    std::error_code ignored;
    if (value.empty() || fs::is_directory(name, ignored)) {
        source found{kind::folder, name, {}};
        for (const auto& each : files_in(name))
            if (each.extension() == ".icd") found.implementations.push_back(named_by(each));
        std::ranges::sort(found.implementations, {}, &implementation::file);
        return found;
    }
    if (!name.ends_with(".icd")) return {kind::library, name, {{name, name}}};
    const auto in_folder = fs::path(default_folder()) / name;
    const auto file = name.find('/') == std::string::npos && fs::exists(in_folder, ignored) ? in_folder.string() : name;
    return {kind::file, file, {named_by(file)}};
}

} // namespace causeway::opencl_vendors
