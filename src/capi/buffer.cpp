// SPDX-License-Identifier: Apache-2.0
// Buffers that a direct link reaches.
#include "runtime/guard.hpp"
#include "runtime/runtime.hpp"
#include "runtime/window_buffers.hpp"
#include "cl/calls.hpp"

#include <causeway/buffer.h>

using namespace causeway;
using namespace causeway::core;

cl_mem causeway_buffer_create(cl_context context, cl_device_id device, cl_mem_flags flags, size_t size,
                              cl_int* errcode_ret) {
    cl_mem made = nullptr;
    const cl_int code = guard([&] {
        made = window_buffers::of_process().create(context, device, flags, size);
        return CL_SUCCESS;
    });
    if (errcode_ret != nullptr) *errcode_ret = code;
    return made;
}

long causeway_direct_links(cl_device_id device, char* text, size_t size) {
    long bytes = -1;
    (void)guard([&] {
        cl_device_type type = 0;
        cl::check(clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof type, &type, nullptr), "asking the device");
        auto& bridges = runtime::instance().bridges();
        bridges.await(device);
        bytes = give_text(bridges.state(), text, size);
        return CL_SUCCESS;
    });
    return bytes;
}
