// SPDX-License-Identifier: Apache-2.0
// Asks OpenCL, the system and MPI, each in a way that survives their failures.
#include "info/facts.hpp"

#include "launcher.hpp"
#include "system_facts.hpp"
#include "vendors.hpp"

#include <CL/cl.h>
#include <causeway/buffer.h>
#include <causeway/causeway.h>
#include <mpi.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>

namespace info {

namespace {

constexpr int longest_mpi_start = 15000; // milliseconds

template <class Object, class What, class Ask> std::string text_of(Ask ask, Object object, What what) {
    std::size_t size = 0;
    if (ask(object, what, 0, nullptr, &size) != CL_SUCCESS) return "";
    std::string text(size, '\0');
    if (ask(object, what, size, text.data(), nullptr) != CL_SUCCESS) return "";
    return text.c_str();
}

template <class Value> Value value_of(cl_device_id device, cl_device_info what) {
    Value value{};
    return clGetDeviceInfo(device, what, sizeof value, &value, nullptr) == CL_SUCCESS ? value : Value{};
}

const char* kind_of(cl_device_type type) {
    if ((type & CL_DEVICE_TYPE_GPU) != 0) return "GPU";
    if ((type & CL_DEVICE_TYPE_ACCELERATOR) != 0) return "accelerator";
    return (type & CL_DEVICE_TYPE_CPU) != 0 ? "CPU" : "other";
}

json facts_of(cl_device_id device, const std::string& platform) {
    const auto name = text_of(clGetDeviceInfo, device, CL_DEVICE_NAME);
    const bool host_memory = value_of<cl_bool>(device, CL_DEVICE_HOST_UNIFIED_MEMORY) != CL_FALSE;
    char links[512] = "none: the device's memory is the host's";
    if (!host_memory) (void)causeway_direct_links(device, links, sizeof links);
    return {{"name", name},
            {"direct_links", links},
            {"kind", kind_of(value_of<cl_device_type>(device, CL_DEVICE_TYPE))},
            {"driver", text_of(clGetDeviceInfo, device, CL_DRIVER_VERSION)},
            {"opencl", text_of(clGetDeviceInfo, device, CL_DEVICE_VERSION)},
            {"memory_bytes", value_of<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_SIZE)},
            {"units", value_of<cl_uint>(device, CL_DEVICE_MAX_COMPUTE_UNITS)},
            {"host_memory", host_memory},
            // It runs commands inside the enqueue, so that none can wait for what a transfer will complete.
            {"user_events", causeway_tool::waits_for_user_events(platform, name)}};
}

json platforms() {
    std::array<cl_platform_id, 64> found{};
    cl_uint count = 0;
    json all = json::array();
    if (clGetPlatformIDs(static_cast<cl_uint>(found.size()), found.data(), &count) != CL_SUCCESS) return all;
    for (cl_uint i = 0; i < std::min<cl_uint>(count, found.size()); ++i) {
        const auto name = text_of(clGetPlatformInfo, found[i], CL_PLATFORM_NAME);
        const auto vendor = text_of(clGetPlatformInfo, found[i], CL_PLATFORM_VENDOR);
        cl_uint devices_there = 0;
        std::array<cl_device_id, 256> devices{};
        if (clGetDeviceIDs(found[i], CL_DEVICE_TYPE_ALL, static_cast<cl_uint>(devices.size()), devices.data(),
                           &devices_there) != CL_SUCCESS)
            devices_there = 0;
        json of_platform = json::array();
        for (cl_uint j = 0; j < std::min<cl_uint>(devices_there, devices.size()); ++j)
            of_platform.push_back(facts_of(devices[j], name));
        all.push_back({{"name", name},
                       {"vendor", vendor},
                       {"version", text_of(clGetPlatformInfo, found[i], CL_PLATFORM_VERSION)},
                       {"devices", of_platform}});
    }
    return all;
}

json locked_memory() {
    rlimit limit{};
    if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return "unlimited";
    return limit.rlim_cur;
}

/// A program linked with one MPI may have loaded another by a library of its own.
json mpi_libraries() {
    json found = json::array();
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        const auto slash = line.find('/');
        if (slash == std::string::npos) continue;
        const auto path = line.substr(slash);
        const auto name = path.substr(path.rfind('/') + 1);
        if ((name.starts_with("libmpi.so") || name.starts_with("libmpich.so")) &&
            std::find(found.begin(), found.end(), path) == found.end())
            found.push_back(path);
    }
    return found;
}

[[noreturn]] void try_mpi(int to) {
    // What MPI says when it ends the process is for us.
    dup2(to, STDERR_FILENO);
    dup2(to, STDOUT_FILENO);
    int provided = -1;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
    const auto said = "\nthread level " + std::to_string(provided) + "\n";
    (void)!write(to, said.data(), said.size());
    MPI_Finalize();
    std::_Exit(0);
}

std::string all_of(int from, int longest) {
    std::string text;
    std::array<char, 4096> some{};
    pollfd ready{from, POLLIN, 0};
    while (poll(&ready, 1, longest) > 0) {
        const auto got = read(from, some.data(), some.size());
        if (got <= 0) return text;
        text.append(some.data(), static_cast<std::size_t>(got));
    }
    return text + "it did not answer within " + std::to_string(longest / 1000) + " s";
}

/// "yes", or why not, or "not known" and why no file can be made to try it.
std::string direct_access_in(const std::string& directory) {
    const int unnamed = open(directory.c_str(), O_TMPFILE | O_RDWR | O_DIRECT | O_CLOEXEC, 0600);
    if (unnamed >= 0) {
        close(unnamed);
        return "yes";
    }
    // It may be files without a name that are refused: NFS and Lustre have none, and take O_DIRECT.
    std::string name = directory + "/.causeway-XXXXXX";
    const int named = mkostemp(name.data(), O_CLOEXEC);
    if (named < 0) {
        const bool is_forbidden = errno == EACCES || errno == EPERM || errno == EROFS;
        return std::string("not known: ") + (is_forbidden ? "you may not write here" : std::strerror(errno));
    }
    close(named);
    const int direct = open(name.c_str(), O_RDWR | O_DIRECT | O_CLOEXEC);
    const std::string told = direct >= 0 ? "yes" : std::strerror(errno);
    if (direct >= 0) close(direct);
    unlink(name.c_str());
    return told;
}

} // namespace

std::string as_text(const json& value, int indent) {
    return value.dump(indent, ' ', false, json::error_handler_t::replace);
}

std::string thread_level_name(int level) {
    switch (level) {
    case MPI_THREAD_SINGLE: return "MPI_THREAD_SINGLE";
    case MPI_THREAD_FUNNELED: return "MPI_THREAD_FUNNELED";
    case MPI_THREAD_SERIALIZED: return "MPI_THREAD_SERIALIZED";
    case MPI_THREAD_MULTIPLE: return "MPI_THREAD_MULTIPLE";
    default: return "level " + std::to_string(level);
    }
}

json facts_of_process() {
    return {{"processor", causeway_tool::processor_name()},
            {"processors", sysconf(_SC_NPROCESSORS_ONLN)},
            {"usable_processors", causeway_tool::usable_processors()},
            {"kernel", causeway_tool::kernel_name()},
            {"memory_bytes",
             static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE))},
            {"locked_memory_bytes", locked_memory()},
            {"vendors", causeway_tool::facts_of_vendors()},
            {"platforms", platforms()},
            {"mpi_libraries", mpi_libraries()}};
}

json facts_of_directories(const std::vector<std::string>& directories) {
    json all = json::array();
    for (const auto& each : directories) {
        json told{{"directory", each}};
        struct statvfs free{};
        if (statvfs(each.c_str(), &free) != 0) {
            told["error"] = std::strerror(errno);
            all.push_back(told);
            continue;
        }
        told["file_system"] = causeway_tool::file_system_of(each);
        told["free_bytes"] = static_cast<std::uint64_t>(free.f_bavail) * free.f_frsize;
        told["direct"] = direct_access_in(each);
        all.push_back(told);
    }
    return all;
}

json facts_of_mpi() {
    json told{{"library", causeway_tool::mpi_name()}};
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) return told;
    const auto child = fork();
    if (child == 0) try_mpi(ends[1]);
    close(ends[1]);
    const auto said = all_of(ends[0], longest_mpi_start);
    close(ends[0]);
    if (child > 0) {
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
    }
    const auto at = said.find("\nthread level ");
    if (at == std::string::npos) {
        told["error"] = said.empty() ? "MPI_Init_thread ended the process" : said;
    } else {
        told["thread_level"] = thread_level_name(std::atoi(said.c_str() + at + std::strlen("\nthread level ")));
    }
    return told;
}

json facts_of_options() {
    std::string text(static_cast<std::size_t>(std::max(causeway_options(nullptr, 0), 0L)) + 1, '\0');
    (void)causeway_options(text.data(), text.size());
    return json::parse(text.c_str());
}

} // namespace info
