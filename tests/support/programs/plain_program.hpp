// SPDX-License-Identifier: Apache-2.0
// A plain OpenCL program with a file, for the programs that device tests start.
#pragma once

#include <CL/cl_data_transfer.h>

#include <errno.h>
#include <fcntl.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace programs {

inline constexpr std::size_t size = 64 << 20;

[[noreturn]] inline void give_up(const std::string& what, cl_int code) {
    std::fprintf(stderr, "%s: %s gave %d\n", program_invocation_short_name, what.c_str(), code);
    std::_Exit(99);
}

inline void check(cl_int code, const char* what) {
    if (code != CL_SUCCESS) {
        give_up(what, code);
    }
}

/// The device with this index among those of all platforms, in the loader's order.
inline cl_device_id find_device(std::size_t index) {
    cl_uint platform_count = 0;
    clGetPlatformIDs(0, nullptr, &platform_count);
    std::vector<cl_platform_id> platforms(platform_count);
    clGetPlatformIDs(platform_count, platforms.data(), nullptr);
    std::vector<cl_device_id> all;
    for (cl_platform_id platform : platforms) {
        cl_uint count = 0;
        if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) == CL_SUCCESS) {
            all.resize(all.size() + count);
            clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, all.data() + all.size() - count, nullptr);
        }
    }
    if (index >= all.size()) {
        give_up("finding the device", CL_DEVICE_NOT_FOUND);
    }
    return all[index];
}

/// The objects of a plain OpenCL program, which ends without much care for them.
struct program {
    cl_context context = nullptr;
    cl_command_queue queue = nullptr;
    cl_mem buffer = nullptr;
    int fd = -1;
    std::FILE* file = nullptr;

    program(cl_device_id device, const char* path) {
        cl_int code = CL_SUCCESS;
        context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code);
        check(code, "clCreateContext");
        queue = clCreateCommandQueue(context, device, 0, &code);
        check(code, "clCreateCommandQueue");
        buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, size, nullptr, &code);
        check(code, "clCreateBuffer");
        const unsigned char value = 0x5a;
        check(clEnqueueFillBuffer(queue, buffer, &value, 1, 0, size, 0, nullptr, nullptr), "clEnqueueFillBuffer");
        fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
        file = std::fopen(path, "r+");
        if (fd < 0 || file == nullptr) {
            give_up("opening the file", -1);
        }
    }

    void write_file(const cl_event* wait = nullptr) const {
        check(
            clEnqueueReadBufferToFile(queue, buffer, CL_FALSE, 0, size, fd, 0, wait == nullptr ? 0 : 1, wait, nullptr),
            "clEnqueueReadBufferToFile");
    }

    void write_stream() const {
        check(clEnqueueReadBufferToStdioFile(queue, buffer, CL_FALSE, 0, size, file, 0, nullptr, nullptr),
              "clEnqueueReadBufferToStdioFile");
    }

    [[nodiscard]] cl_event never_set() const {
        cl_int code = CL_SUCCESS;
        const cl_event event = clCreateUserEvent(context, &code);
        check(code, "clCreateUserEvent");
        return event;
    }

    void release() const {
        clReleaseMemObject(buffer);
        clReleaseCommandQueue(queue);
        clReleaseContext(context);
    }
};

} // namespace programs
