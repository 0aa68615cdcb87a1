// SPDX-License-Identifier: Apache-2.0
// Finds the calls of OpenCL 3.0 and of the extension; loaders and platforms of 1.2 have none of them.
#include "cl/external_memory.hpp"

#include "base/error.hpp"
#include "cl/calls.hpp"

#include <dlfcn.h>
#include <unistd.h>

namespace causeway::cl {

namespace {

// Of CL/cl_ext.h as of 3.0, which older headers do not have.
constexpr cl_bitfield opaque_descriptor = 0x2060; // CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_FD_KHR
constexpr cl_bitfield device_list = 0x2051;       // CL_MEM_DEVICE_HANDLE_LIST_KHR

} // namespace

external_memory::external_memory(cl_device_id device) : m_device(device) {
    cl_platform_id platform = nullptr;
    if (clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, nullptr) != CL_SUCCESS) return;
    const auto find = [&](const char* name) {
        return reinterpret_cast<own_function*>(clGetExtensionFunctionAddressForPlatform(platform, name));
    };
    m_acquire = find("clEnqueueAcquireExternalMemObjectsKHR");
    m_release = find("clEnqueueReleaseExternalMemObjectsKHR");
    if (m_release == nullptr) m_acquire = nullptr;
    m_create = reinterpret_cast<create_function*>(::dlsym(RTLD_DEFAULT, "clCreateBufferWithProperties"));
}

buffer external_memory::import(cl_context context, int descriptor, std::size_t bytes, cl_mem_flags flags) const {
    const cl_bitfield properties[] = {opaque_descriptor,
                                      static_cast<cl_bitfield>(descriptor),
                                      device_list,
                                      reinterpret_cast<cl_bitfield>(m_device),
                                      0,
                                      0};
    cl_int code = CL_SUCCESS;
    auto made = buffer::adopt(m_create(context, properties, flags, bytes, nullptr, &code));
    if (code != CL_SUCCESS) ::close(descriptor);
    check(code, "importing " + bytes_text(bytes) + " of a window");
    return made;
}

cl_int external_memory::acquire(cl_command_queue queue, cl_mem memory) const {
    return m_acquire(queue, 1, &memory, 0, nullptr, nullptr);
}

cl_int external_memory::release(cl_command_queue queue, cl_mem memory, cl_event* event) const {
    return m_release(queue, 1, &memory, 0, nullptr, event);
}

} // namespace causeway::cl
