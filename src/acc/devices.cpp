// SPDX-License-Identifier: Apache-2.0
// The list of devices, and which one a thread uses.
#include "acc/device.hpp"
#include "acc/failure.hpp"
#include "acc/selection.hpp"

#include <causeway/acc/openacc.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace causeway::acc {
namespace {

struct found_device {
    cl_platform_id platform;
    cl_device_id id;
    bool gpu;
};

std::vector<found_device> find_all() {
    cl_uint platform_count = 0;
    if (clGetPlatformIDs(0, nullptr, &platform_count) != CL_SUCCESS || platform_count == 0) return {};
    std::vector<cl_platform_id> platforms(platform_count);
    clGetPlatformIDs(platform_count, platforms.data(), nullptr);
    std::vector<found_device> found;
    for (const auto platform : platforms) {
        char name[256] = "";
        clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name - 1, name, nullptr);
        // Causeway's platform offers the devices of the others again.
        if (platform_count > 1 && std::strcmp(name, "Causeway") == 0) continue;
        cl_uint count = 0;
        if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS || count == 0) continue;
        std::vector<cl_device_id> ids(count);
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, ids.data(), nullptr);
        for (const auto id : ids) {
            cl_device_type type = 0;
            clGetDeviceInfo(id, CL_DEVICE_TYPE, sizeof type, &type, nullptr);
            found.push_back({platform, id, (type & CL_DEVICE_TYPE_GPU) != 0});
        }
    }
    std::stable_partition(found.begin(), found.end(), [](const auto& each) { return each.gpu; });
    return found;
}

} // namespace

const std::vector<std::unique_ptr<device>>& devices() {
    // Never destroyed: drivers are gone by then.
    static const auto* const all = [] {
        auto* made = new std::vector<std::unique_ptr<device>>;
        const char* const repeat = std::getenv("ACC_DEVICE_REPEAT");
        const long times = std::clamp(repeat ? std::atol(repeat) : 1l, 1l, 64l);
        const auto found = find_all();
        for (long time = 0; time < times; ++time)
            for (const auto& each : found)
                made->push_back(std::make_unique<device>(static_cast<int>(made->size()), each.platform, each.id));
        return made;
    }();
    return *all;
}

selection& selected() {
    thread_local selection own = [] {
        selection first;
        if (const char* type = std::getenv("ACC_DEVICE_TYPE"); type && (strcasecmp(type, "host") == 0))
            first.host = true;
        if (const char* number = std::getenv("ACC_DEVICE_NUM")) first.number = std::atoi(number);
        return first;
    }();
    return own;
}

device* current_device() {
    if (selected().host || devices().empty()) return nullptr;
    return &device_number(selected().number);
}

device& device_number(long number) {
    if (number < 0 || static_cast<std::size_t>(number) >= devices().size())
        fail_here("there is no device " + std::to_string(number) + ": " +
                  (devices().empty() ? "OpenCL has none here"
                                     : "devices count from 0 to " + std::to_string(devices().size() - 1)));
    return *devices()[static_cast<std::size_t>(number)];
}

} // namespace causeway::acc
