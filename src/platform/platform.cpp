// SPDX-License-Identifier: Apache-2.0
// The platform itself, and how loaders find it (cl_khr_icd).
#include "platform/boundary.hpp"
#include "platform/device.hpp"
#include "platform/entry_points.hpp"
#include "platform/identity.hpp"
#include "platform/noted_call.hpp"
#include "platform/observed_call.hpp"

#include <map>
#include <string>

namespace causeway::platform {

_cl_platform_id& the_platform() {
    static auto& one = *new _cl_platform_id; // programs may ask while the process ends
    return one;
}

namespace {

const std::map<std::string, void*, std::less<>>& functions() {
    static const auto& all = *new std::map<std::string, void*, std::less<>>{
#define CAUSEWAY_ENTRY(name) {#name, reinterpret_cast<void*>(dispatch_table.name)},
#define CAUSEWAY_REFUSED(name, code)
#include "platform/entry_points.def"
#undef CAUSEWAY_ENTRY
#undef CAUSEWAY_REFUSED
        {"clIcdGetPlatformIDsKHR", reinterpret_cast<void*>(dispatch_table.clGetPlatformIDs)},
#define CAUSEWAY_EXTENSION(name, function)                                                                             \
    {#name, reinterpret_cast<void*>(observed_if_wanted<api_call::name, &noted<api_call::name, &function>::call>())},
#include "platform/extension_points.def"
#undef CAUSEWAY_EXTENSION
        {"clCreateProgramWithILKHR", reinterpret_cast<void*>(dispatch_table.clCreateProgramWithIL)},
    };
    return all;
}

void* find_function(const char* name) {
    if (name == nullptr) return nullptr;
    const auto found = functions().find(name);
    return found == functions().end() ? nullptr : found->second;
}

} // namespace

namespace entry {

cl_int CL_API_CALL clGetPlatformIDs(cl_uint count, cl_platform_id* platforms, cl_uint* found) {
    if ((platforms == nullptr && found == nullptr) || (platforms != nullptr && count == 0)) return CL_INVALID_VALUE;
    if (platforms != nullptr) platforms[0] = &the_platform();
    if (found != nullptr) *found = 1;
    return CL_SUCCESS;
}

cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id platform, cl_platform_info name, size_t size, void* value,
                                     size_t* size_ret) {
    return guard([&] {
        if (platform != nullptr) (void)checked(platform, CL_INVALID_PLATFORM);
        const answer to(size, value, size_ret);
        switch (name) {
        case CL_PLATFORM_NAME: return to.text(identity::name);
        case CL_PLATFORM_VENDOR: return to.text(identity::vendor);
        case CL_PLATFORM_VERSION: return to.text(identity::version);
        case CL_PLATFORM_PROFILE: return to.text(identity::profile);
        case CL_PLATFORM_EXTENSIONS: return to.text(identity::extensions);
        case CL_PLATFORM_ICD_SUFFIX_KHR: return to.text(identity::icd_suffix);
        case CL_PLATFORM_NUMERIC_VERSION: return to(CL_MAKE_VERSION(1, 2, 0));
        case CL_PLATFORM_HOST_TIMER_RESOLUTION: return to(cl_ulong{0});
        default: return CL_INVALID_VALUE;
        }
    });
}

void* CL_API_CALL clGetExtensionFunctionAddress(const char* name) { return find_function(name); }

void* CL_API_CALL clGetExtensionFunctionAddressForPlatform(cl_platform_id platform, const char* name) {
    return platform == nullptr || !platform->is(kind::platform) ? nullptr : find_function(name);
}

cl_int CL_API_CALL clUnloadCompiler() { return CL_SUCCESS; }

cl_int CL_API_CALL clUnloadPlatformCompiler(cl_platform_id platform) {
    return platform != nullptr && platform->is(kind::platform) ? CL_SUCCESS : CL_INVALID_PLATFORM;
}

} // namespace entry
} // namespace causeway::platform

// What loaders look for by name; all else goes through the table.
extern "C" {

__attribute__((visibility("default"))) cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint count,
                                                                                 cl_platform_id* platforms,
                                                                                 cl_uint* found) {
    return causeway::platform::entry::clGetPlatformIDs(count, platforms, found);
}

__attribute__((visibility("default"))) void* CL_API_CALL clGetExtensionFunctionAddress(const char* name) {
    return causeway::platform::find_function(name);
}
}
