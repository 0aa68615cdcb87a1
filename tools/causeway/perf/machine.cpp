// SPDX-License-Identifier: Apache-2.0
// Asks the system, OpenCL and MPI for their names and versions.
#include "perf/machine.hpp"

#include "launcher.hpp"
#include "perf/bench.hpp"
#include "system_facts.hpp"

#include <causeway/causeway.h>

#include <unistd.h>

#include <string_view>
#include <thread>

extern "C" char** environ;

namespace perf {

namespace {

using namespace causeway_tool;

std::string text_of(cl_device_id device, cl_device_info what) {
    std::size_t size = 0;
    apps::check(clGetDeviceInfo(device, what, 0, nullptr, &size), "clGetDeviceInfo");
    std::string text(size, '\0');
    apps::check(clGetDeviceInfo(device, what, size, text.data(), nullptr), "clGetDeviceInfo");
    return text.c_str();
}

std::string platform_of(cl_device_id device) {
    cl_platform_id platform = nullptr;
    apps::check(clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, nullptr), "clGetDeviceInfo");
    std::string text;
    for (const cl_platform_info what : {CL_PLATFORM_NAME, CL_PLATFORM_VERSION}) {
        char part[256] = "";
        apps::check(clGetPlatformInfo(platform, what, sizeof part, part, nullptr), "clGetPlatformInfo");
        text.append(text.empty() ? "" : ", ").append(part);
    }
    return text;
}

std::string forced_options() {
    std::string text;
    for (char** each = environ; *each != nullptr; ++each) {
        const std::string_view set(*each);
        // perf sets these two itself, for each row.
        if (set.starts_with("CAUSEWAY_STRATEGY=") || set.starts_with("CAUSEWAY_BLOCK=")) continue;
        if (set.starts_with("CAUSEWAY_")) text.append(text.empty() ? "" : " ").append(set);
    }
    return text.empty() ? "defaults" : text;
}

} // namespace

facts machine_facts(cl_device_id device, const settings& wanted, int ranks) {
    const auto directory = wanted.directory.string();
    return {
        {"causeway", std::string(causeway_version()) + (wanted.commit.empty() ? "" : ", commit " + wanted.commit)},
        {"processor", processor_name() + ", " + std::to_string(std::thread::hardware_concurrency()) + " cores, " +
                          std::to_string(usable_processors()) + " for each rank"},
        {"kernel", kernel_name()},
        {"device", text_of(device, CL_DEVICE_NAME) +
                       (has_host_memory(device) ? ", its memory is the host's" : ", memory of its own")},
        {"driver", text_of(device, CL_DRIVER_VERSION) + ", " + text_of(device, CL_DEVICE_VERSION)},
        {"platform", platform_of(device)},
        {"MPI", mpi_name() + ", " + std::to_string(ranks) + (ranks == 1 ? " rank" : " ranks")},
        {"files in", directory + ", " + file_system_of(directory)},
        {"options", forced_options()},
        {"figures", "medians of at least " + std::to_string(wanted.repetitions) +
                        " rounds (fewer, as told, where they take long), all ways in turn, data checked after each"},
    };
}

} // namespace perf
