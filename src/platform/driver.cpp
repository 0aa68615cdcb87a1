// SPDX-License-Identifier: Apache-2.0
// Loads the drivers that OpenCL loaders would load, and asks each for its platforms.
#include "platform/driver.hpp"

#include "base/opencl_vendors.hpp"
#include "platform/identity.hpp"
#include "platform/settings.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <string_view>

namespace causeway::platform {

namespace {

namespace fs = std::filesystem;

std::string in_small_letters(std::string_view text) {
    std::string small(text);
    std::transform(small.begin(), small.end(), small.begin(),
                   [](unsigned char letter) { return std::tolower(letter); });
    return small;
}

std::vector<std::string> split(std::string_view text, char at) {
    std::vector<std::string> words;
    while (!text.empty()) {
        const auto end = std::min(text.find(at), text.size());
        if (end != 0) words.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return words;
}

/// Those of a driver's file: see driver.
std::string name_of(const opencl_vendors::implementation& source) {
    return in_small_letters(fs::path(source.file).stem().string());
}

/// CAUSEWAY_VENDORS stands in for the loaders' own variable where the loader shall see this platform alone.
std::vector<opencl_vendors::implementation> find_libraries() {
    const auto variable = [](const char* name) {
        // These name code: a process with other rights than its caller's takes none of it.
        const char* const value = ::secure_getenv(name);
        return std::string(value == nullptr ? "" : value);
    };
    std::string vendors = settings().text(option::vendors);
    if (vendors.empty()) vendors = variable("OCL_ICD_VENDORS");
    auto found = opencl_vendors::source_of(vendors).implementations;
    // The second is the first's value where the loader shall see this platform alone; see
    // environment_of_platform_alone().
    const auto names = variable("OCL_ICD_FILENAMES") + ':' + variable("_CAUSEWAY_ICD_FILENAMES");
    for (const auto& name : split(names, ':'))
        for (auto& each : opencl_vendors::source_of(name).implementations) found.push_back(std::move(each));
    std::erase_if(found, [](const auto& each) { return each.library.empty(); });
    return found;
}

std::string text_of(const cl_icd_dispatch& calls, cl_platform_id platform, cl_platform_info name) {
    size_t size = 0;
    if (calls.clGetPlatformInfo(platform, name, 0, nullptr, &size) != CL_SUCCESS || size == 0) return {};
    std::string text(size, '\0');
    if (calls.clGetPlatformInfo(platform, name, size, text.data(), nullptr) != CL_SUCCESS) return {};
    return text.c_str();
}

bool keeps_pocls_builds() {
    const char* const text = std::getenv("POCL_KERNEL_CACHE");
    return text == nullptr || std::string_view(text) != "0";
}

void add_platforms(const opencl_vendors::implementation& source, std::vector<driver>& drivers) {
    // Never closed: drivers have threads and handlers of their own.
    void* const opened = dlopen(source.library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (opened == nullptr) return;
    auto get = reinterpret_cast<decltype(&::clIcdGetPlatformIDsKHR)>(dlsym(opened, "clIcdGetPlatformIDsKHR"));
    if (get == nullptr) {
        const auto address = reinterpret_cast<decltype(cl_icd_dispatch::clGetExtensionFunctionAddress)>(
            dlsym(opened, "clGetExtensionFunctionAddress"));
        if (address != nullptr) get = reinterpret_cast<decltype(get)>(address("clIcdGetPlatformIDsKHR"));
    }
    cl_uint count = 0;
    if (get == nullptr || get(0, nullptr, &count) != CL_SUCCESS || count == 0) return;
    std::vector<cl_platform_id> platforms(count);
    if (get(count, platforms.data(), nullptr) != CL_SUCCESS) return;
    for (auto* const platform : platforms) {
        const auto& calls = calls_of(platform);
        const auto name = text_of(calls, platform, CL_PLATFORM_NAME);
        // This library, or another copy of it, which would go round in circles.
        if (name == identity::name) continue;
        if (std::any_of(drivers.begin(), drivers.end(), [&](const driver& one) { return one.platform == platform; }))
            continue;
        auto quirks = quirks_of(name);
        if (!keeps_pocls_builds()) quirks.keeps_builds = false;
        drivers.push_back({.name = name_of(source), .platform = platform, .calls = &calls, .quirks = quirks});
    }
}

} // namespace

device_filter::device_filter(const std::string& text) {
    for (const auto& word : split(in_small_letters(text), ',')) {
        item made;
        const auto colon = word.rfind(':');
        made.name = word.substr(0, colon);
        if (colon != std::string::npos) {
            int index = 0;
            const auto [end, error] = std::from_chars(word.data() + colon + 1, word.data() + word.size(), index);
            made.index = error == std::errc{} && end == word.data() + word.size() ? index : -2; // -2: no device has it
        }
        for (const auto& [name, type] : {std::pair{"cpu", CL_DEVICE_TYPE_CPU}, std::pair{"gpu", CL_DEVICE_TYPE_GPU},
                                         std::pair{"accelerator", CL_DEVICE_TYPE_ACCELERATOR}}) {
            if (made.name != name) continue;
            made.types = static_cast<cl_device_type>(type);
            made.name.clear();
        }
        m_items.push_back(made);
    }
}

bool device_filter::wants(const std::string& driver) const {
    return m_items.empty() || std::any_of(m_items.begin(), m_items.end(),
                                          [&](const item& one) { return driver.find(one.name) != std::string::npos; });
}

bool device_filter::passes(const std::string& driver, unsigned index, cl_device_type type) const {
    return m_items.empty() || std::any_of(m_items.begin(), m_items.end(), [&](const item& one) {
               return driver.find(one.name) != std::string::npos &&
                      (one.index == -1 || one.index == static_cast<int>(index)) && (type & one.types) != 0;
           });
}

std::vector<driver> load_drivers(const device_filter& filter) {
    std::vector<driver> drivers;
    for (const auto& source : find_libraries())
        if (filter.wants(name_of(source))) add_platforms(source, drivers);
    return drivers;
}

} // namespace causeway::platform
