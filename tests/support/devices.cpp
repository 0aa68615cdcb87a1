// SPDX-License-Identifier: Apache-2.0
// Finds the devices that tests run on and gives each a short name.
#include "support/devices.hpp"

#include <algorithm>
#include <cctype>
#include <set>

namespace support {

namespace {

std::string platform_name(cl_platform_id platform) {
    std::size_t size = 0;
    clGetPlatformInfo(platform, CL_PLATFORM_NAME, 0, nullptr, &size);
    std::string name(size, '\0');
    clGetPlatformInfo(platform, CL_PLATFORM_NAME, size, name.data(), nullptr);
    return name.c_str();
}

std::string short_name(cl_platform_id platform) {
    const std::string name = platform_name(platform);
    if (name.find("Portable Computing Language") != std::string::npos) {
        return "pocl";
    }
    std::string word = name.substr(0, name.find_first_of(" (")); // "Intel(R) OpenCL", "NVIDIA CUDA"
    std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return std::tolower(c); });
    std::erase_if(word, [](unsigned char c) { return std::isalnum(c) == 0; });
    return word.empty() ? "platform" : word;
}

std::vector<device_under_test> find_devices() {
    cl_uint platform_count = 0;
    clGetPlatformIDs(0, nullptr, &platform_count);
    std::vector<cl_platform_id> platforms(platform_count);
    if (platform_count != 0) {
        clGetPlatformIDs(platform_count, platforms.data(), nullptr);
    }

    std::vector<device_under_test> found;
    std::set<std::string> used;
    for (cl_platform_id platform : platforms) {
        cl_uint device_count = 0;
        if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &device_count) != CL_SUCCESS) {
            continue;
        }
        std::vector<cl_device_id> devices(device_count);
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, device_count, devices.data(), nullptr);
        std::string vendor = short_name(platform);
        while (!used.insert(vendor).second) {
            vendor += "x";
        }
        for (cl_uint i = 0; i < device_count; ++i) {
            found.push_back({platform, devices[i], vendor + "_" + std::to_string(i)});
        }
    }
    return found;
}

} // namespace

const std::vector<device_under_test>& all_devices() {
    static const std::vector<device_under_test> devices = find_devices();
    return devices;
}

} // namespace support
