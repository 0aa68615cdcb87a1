// SPDX-License-Identifier: Apache-2.0
// Each program has a source that no driver has kept, as a program's first run has.
#include "study/paper/calls.hpp"

#include "study/temporary_folder.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <stdexcept>
#include <vector>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace paper {

namespace {

using nlohmann::json;

bool is_program(const application& of, const effort& spent) {
    if (of.name == "ILP" || of.name == "Chain") return false;
    // Figure 4 is that of a reduction.
    return !spent.is_hasty() || of.kernel == "reduce" || of.name == "Square 10000";
}

/// The library that a platform's calls are in; empty for the platform Causeway, which has none of its own devices.
std::string library_of(cl_platform_id platform) {
    std::array<char, 64> name{};
    (void)clGetPlatformInfo(platform, CL_PLATFORM_NAME, name.size() - 1, name.data(), nullptr);
    if (std::strcmp(name.data(), "Causeway") == 0) return {};
    // cl_khr_icd: an object begins with the address of its driver's table, whose third call is clGetDeviceIDs.
    const auto* const calls = *reinterpret_cast<const void* const* const*>(platform);
    Dl_info found{};
    return dladdr(calls[2], &found) == 0 || found.dli_fname == nullptr ? "" : found.dli_fname;
}

/// The studied program finds the driver that is measured, wherever a loader looked for it, and no other.
void show_only(const std::string& library) {
    if (library.empty()) return;
    setenv("CAUSEWAY_VENDORS", library.c_str(), 1);
    for (const auto* const name : {"CAUSEWAY_DEVICES", "OCL_ICD_FILENAMES"}) unsetenv(name);
}

/// What the study says of one; what it prints goes nowhere.
json study_of(const std::string& causeway, const std::string& library, const std::vector<std::string>& program,
              const std::filesystem::path& file) {
    std::vector<std::string> words{causeway, "study", "-o", file.string(), "--"};
    words.insert(words.end(), program.begin(), program.end());
    std::vector<char*> pointers;
    for (auto& each : words) pointers.push_back(each.data());
    pointers.push_back(nullptr);
    const pid_t process = fork();
    if (process == 0) {
        const int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
        if (nothing >= 0) dup2(nothing, STDOUT_FILENO);
        show_only(library);
        execv(causeway.c_str(), pointers.data());
        _exit(127);
    }
    int status = -1;
    if (process > 0) waitpid(process, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        throw std::runtime_error("the study of " + program[2] + " failed");
    return json::parse(std::ifstream(file)).at("processes").at(0);
}

void add_shares(const json& process, const std::string& device, const std::string& name, bool is_reduction, rows& all) {
    const auto in_calls = process.at("in_calls").get<double>();
    const auto kernels = std::min(process.at("kernel_seconds").get<double>(), in_calls);
    const auto add = [&](const char* figure, const std::string& x, double seconds, double whole) {
        all.push_back({figure, device, name, x, seconds, whole > 0 ? seconds / whole : 0});
    };
    // The host waits in a call while a kernel runs.
    add("3", "kernels", kernels, in_calls);
    add("3", "API", in_calls - kernels, in_calls);
    double contexts = 0, releases = 0, programs = 0, set_up = 0, others = 0;
    for (const auto& each : process.at("categories")) {
        const auto category = each.at("category").get<std::string>();
        const auto seconds = each.at("seconds").get<double>();
        if (is_reduction) add("4", category, seconds, in_calls);
        static const std::set<std::string> shown{"platform",          "device",         "context", "program",
                                                 "enqueued commands", "synchronisation"};
        if (shown.contains(category))
            add("5", category, seconds, in_calls);
        else
            others += seconds;
        if (category == "platform" || category == "device" || category == "context") set_up += seconds;
        if (category == "program") programs = seconds;
        for (const auto& function : each.at("functions")) {
            if (function.at("function") == "clCreateContext") contexts = function.at("seconds");
            if (function.at("function") == "clReleaseContext") releases = function.at("seconds");
        }
    }
    add("5", "the other ten", others, in_calls);
    add("6", "clCreateContext", contexts, in_calls);
    add("6", "clReleaseContext", releases, in_calls);
    add("7", "program", programs, in_calls - set_up);
}

} // namespace

void measure_categories(const std::string& causeway, cl_platform_id platform, const std::string& device,
                        const effort& spent, rows& all) {
    const study::temporary_folder folder("causeway-paper");
    const auto self = std::filesystem::read_symlink("/proc/self/exe").string();
    const auto library = library_of(platform);
    std::set<std::string> seen;
    for (const auto& of : applications()) {
        if (!is_program(of, spent) || !seen.insert(of.kernel).second) continue;
        const auto salt = "-D SALT=" + std::to_string(static_cast<long long>(now() * 1e6));
        const auto process = study_of(causeway, library, {self, "--program", of.name, device, salt},
                                      folder.path() / "study.json");
        add_shares(process, device, of.name, of.kernel == "reduce", all);
    }
}

int run_as_program(const std::string& application_name, const std::string& device_name, const std::string& options) {
    const auto all = applications();
    const auto of = std::find_if(all.begin(), all.end(),
                                 [&](const auto& each) { return each.name == application_name; });
    if (of == all.end()) throw std::runtime_error("there is no application " + application_name);
    const auto found = every_device();
    const auto it = std::find_if(found.begin(), found.end(),
                                 [&](const auto& each) { return name_of(each.second) == device_name; });
    if (it == found.end()) {
        std::string others;
        for (const auto& [platform, each] : found) others += (others.empty() ? "; there is " : ", ") + name_of(each);
        throw std::runtime_error("there is no device " + device_name + (found.empty() ? ", and no other" : others));
    }
    device on(it->first, it->second);
    (void)on.result(*of, options);
    return 0;
}

} // namespace paper
