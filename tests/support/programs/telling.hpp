// SPDX-License-Identifier: Apache-2.0
// How programs of a cluster have their ranks compared: by commands that differ where texts do.
#pragma once

#include <CL/cl.h>

#include <cstdlib>
#include <string>

namespace programs {

// Made by the program.
inline cl_context context = nullptr;
inline cl_command_queue queue = nullptr;

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

} // namespace programs
