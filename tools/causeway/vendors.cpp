// SPDX-License-Identifier: Apache-2.0
// Asks the library's part that knows the sources, and the dynamic loader.
#include "vendors.hpp"

#include "platform_folder.hpp"

#include "base/opencl_vendors.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>

namespace causeway_tool {

using nlohmann::json;

namespace {

/// The variable that says where the loader looks; "default" if none does.
std::string who_names_vendors() {
    for (const char* const name : {"OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH"})
        if (const char* const value = std::getenv(name); value != nullptr && *value != '\0') return name;
    return "default";
}

/// Why the dynamic loader does not take a library; empty if it does.
std::string refusal_of(const std::string& library) {
    if (library.empty()) return "its first line is empty"; // which dlopen takes for the program itself
    return dlopen(library.c_str(), RTLD_LAZY | RTLD_LOCAL) == nullptr ? dlerror() : "";
}

} // namespace

std::string vendors_source() {
    const char* const asked = std::getenv("OCL_ICD_VENDORS");
    return asked != nullptr && *asked != '\0' ? asked : causeway::opencl_vendors::default_folder();
}

std::vector<std::pair<std::string, std::optional<std::string>>> environment_of_platform_alone() {
    const char* const vendors = std::getenv("CAUSEWAY_VENDORS");
    std::vector<std::pair<std::string, std::optional<std::string>>> made{
        {"CAUSEWAY_VENDORS", vendors != nullptr ? vendors : vendors_source()}, {"OCL_ICD_VENDORS", platform_folder()}};
    // To Khronos' loader, drivers that stand beside those of the folder.
    if (const char* const names = std::getenv("OCL_ICD_FILENAMES"); names != nullptr && *names != '\0') {
        made.emplace_back("_CAUSEWAY_ICD_FILENAMES", names);
        made.emplace_back("OCL_ICD_FILENAMES", std::nullopt);
    }
    return made;
}

json facts_of_vendors() {
    using causeway::opencl_vendors::kind;
    const char* const asked = std::getenv("OCL_ICD_VENDORS");
    const auto source = causeway::opencl_vendors::source_of(asked != nullptr ? asked : "");
    json told{{"from", who_names_vendors()}, {"folder", source.name}, {"files", json::array()}};
    told["kind"] = source.what == kind::folder ? "folder" : source.what == kind::file ? "file" : "library";
    // A library without a folder is one that the dynamic loader looks for.
    const bool is_path = source.what != kind::library || source.name.find('/') != std::string::npos;
    if (is_path && access(source.name.c_str(), F_OK) != 0) {
        told["missing"] = true;
        return told;
    }
    for (const auto& each : source.implementations) {
        json file{{"file", each.file}, {"library", each.library}};
        if (const auto why = refusal_of(each.library); !why.empty()) file["error"] = why;
        told["files"].push_back(file);
    }
    return told;
}

} // namespace causeway_tool
