// SPDX-License-Identifier: Apache-2.0
// The list of devices, and which one a thread uses.
#include "acc/device.hpp"
#include "acc/failure.hpp"
#include "acc/selection.hpp"

#include <causeway/acc/openacc.h>

#include <algorithm>
#include <cctype>
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

/// How many devices ACC_DEVICE_TYPE's `type` has; the `number`th of them is `found`.
int count_of(const std::string& type, long number, const device*& found) {
    constexpr struct {
        const char* name;
        int type;
    } types[] = {{"nvidia", acc_device_nvidia},
                 {"radeon", acc_device_radeon},
                 {"intel", acc_device_intel},
                 {"opencl", acc_device_opencl}};
    const bool any = type == "default" || type == "not_host";
    const auto* const wanted = std::find_if(std::begin(types), std::end(types),
                                            [&](const auto& each) { return type == each.name; });
    if (!any && type != "cpu" && type != "gpu" && wanted == std::end(types))
        fail_here("ACC_DEVICE_TYPE is " + quoted(type.c_str()) +
                  ", which is none of 'host', 'default', 'not_host', 'cpu', 'gpu', 'nvidia', 'radeon', 'intel' and "
                  "'opencl'");
    int count = 0;
    for (const auto& each : devices()) {
        const bool is_one = any || (type == "cpu"   ? each->is_cpu()
                                    : type == "gpu" ? !each->is_cpu()
                                                    : each->type() == wanted->type);
        if (is_one && count++ == number) found = each.get();
    }
    return count;
}

/// What ACC_DEVICE_TYPE and ACC_DEVICE_NUM say.
selection first_selection() {
    selection first;
    const char* const type_text = std::getenv("ACC_DEVICE_TYPE");
    const char* const number_text = std::getenv("ACC_DEVICE_NUM");
    std::string type = type_text && *type_text ? type_text : "default";
    std::transform(type.begin(), type.end(), type.begin(), [](unsigned char each) { return std::tolower(each); });
    if (type.starts_with("acc_device_")) type.erase(0, std::strlen("acc_device_"));
    first.host = type == "host";
    long number = 0;
    if (number_text && *number_text) {
        char* end = nullptr;
        number = std::strtol(number_text, &end, 10);
        if (*end || number < 0)
            fail_here("ACC_DEVICE_NUM is " + quoted(number_text) + ", which is no number from 0 on");
    }
    if (first.host) return first;
    const device* found = nullptr;
    const int count = count_of(type, number, found);
    if (found)
        first.number = found->number();
    else if (count > 0)
        fail_here("ACC_DEVICE_NUM is " + quoted(number_text) + ", and devices" +
                  (type_text ? " of the type " + quoted(type_text) : "") + " count from 0 to " +
                  std::to_string(count - 1));
    else if (type != "default")
        fail_here("ACC_DEVICE_TYPE is " + quoted(type_text) + ", and there is no device of this type");
    return first;
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
    thread_local selection own = first_selection();
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
