// SPDX-License-Identifier: Apache-2.0
// How programs of a cluster have their ranks compared: by commands that differ where texts do.
#pragma once

#include <CL/cl.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace programs {

// Of the first device.
inline cl_context context = nullptr;
inline cl_command_queue queue = nullptr;

/// Makes them; ends the program where there is no device.
inline void make_queue() {
    cl_platform_id platform = nullptr;
    cl_device_id device = nullptr;
    if (clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) != CL_SUCCESS)
        std::exit(1);
    cl_int code = CL_SUCCESS;
    context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code);
    queue = clCreateCommandQueue(context, device, 0, &code);
}

/// Enqueues a command that is another one for another text, where the ranks meet.
inline void tell(const std::string& text) {
    cl_int code = CL_SUCCESS;
    std::size_t size = 1;
    for (const char letter : text) size = size * 31 % 4093 + static_cast<unsigned char>(letter);
    auto* const buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, size, nullptr, &code);
    const cl_uchar zero = 0;
    if (code != CL_SUCCESS ||
        clEnqueueFillBuffer(queue, buffer, &zero, 1, 0, size, 0, nullptr, nullptr) != CL_SUCCESS ||
        clFinish(queue) != CL_SUCCESS)
        std::exit(1);
    clReleaseMemObject(buffer);
}

inline int right = 0; // answers
inline void expect(const char* what, const std::string& found, const std::string& wanted) {
    tell(found);
    if (found == wanted)
        ++right;
    else
        std::fprintf(stderr, "%s: '%s' instead of '%s'\n", what, found.c_str(), wanted.c_str());
}
inline void expect(const char* what, long found, long wanted) {
    expect(what, std::to_string(found), std::to_string(wanted));
}
inline void is_made(const char* what, long code) { expect(what, code >= 0 ? "done" : std::strerror(errno), "done"); }

} // namespace programs
