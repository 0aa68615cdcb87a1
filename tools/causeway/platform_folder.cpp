// SPDX-License-Identifier: Apache-2.0
// Looks beside the library and beside the program.
#include "platform_folder.hpp"

#include "beside.hpp"

#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace causeway_tool {

std::string platform_folder() {
    namespace fs = std::filesystem;
    const auto library = library_file("causeway/libcauseway_icd.so");
    if (!fs::exists(library)) throw std::runtime_error("the platform is not installed: there is no " + library);
    const fs::path file = shared_file("opencl-vendors/causeway.icd");
    std::string named;
    std::getline(std::ifstream(file), named);
    std::error_code not_there;
    return fs::equivalent(named, library, not_there) ? file.parent_path().string() + "/" : library;
}

} // namespace causeway_tool
