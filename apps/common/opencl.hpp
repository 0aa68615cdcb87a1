// SPDX-License-Identifier: Apache-2.0
// OpenCL for the applications: error checks, owning handles, choice of a device, page-locked host memory.
#pragma once

#include <CL/cl.h>

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

namespace apps {

/// Throws std::runtime_error("<what>: <OpenCL code>") unless `code` is CL_SUCCESS.
void check(cl_int code, const char* what);

/// Blocks until all `events` are complete; null ones count as complete. Throws if one failed.
void wait_for(std::initializer_list<cl_event> events, const char* what);

template <auto Release> struct release_with {
    template <class Object> void operator()(Object* handle) const noexcept { Release(handle); }
};

using context = std::unique_ptr<_cl_context, release_with<clReleaseContext>>;
using queue = std::unique_ptr<_cl_command_queue, release_with<clReleaseCommandQueue>>;
using buffer = std::unique_ptr<_cl_mem, release_with<clReleaseMemObject>>;
using program = std::unique_ptr<_cl_program, release_with<clReleaseProgram>>;
using kernel = std::unique_ptr<_cl_kernel, release_with<clReleaseKernel>>;
using event = std::unique_ptr<_cl_event, release_with<clReleaseEvent>>;

/// The devices of the first platform that has some and whose name contains `platform_name` (empty: any).
/// Asks no platform beyond that one. Throws if there is none.
std::vector<cl_device_id> devices_of(const std::string& platform_name);

/// The first device of a platform that is not that of `device` and whose name contains `platform_name` (empty: any);
/// null if there is none.
cl_device_id device_of_another_platform(cl_device_id device, const std::string& platform_name);

/// One of devices_of(). Throws if there are not so many: on this rank, that is, and no argument is wrong on the others.
cl_device_id device_of(const std::string& platform_name, std::size_t index);

/// A text from clGetDeviceInfo.
std::string device_text(cl_device_id device, cl_device_info what);
std::string device_name(cl_device_id device);
cl_device_type device_type(cl_device_id device);

context create_context(cl_device_id device);
context create_context(const std::vector<cl_device_id>& devices);
queue create_in_order_queue(cl_context context, cl_device_id device);
/// Of the device of `sibling`.
queue create_out_of_order_queue(cl_context context, cl_command_queue sibling);
buffer create_buffer(cl_context context, std::size_t size_bytes);
program build_program(cl_context context, cl_device_id device, const char* source, const std::string& options);
/// For all devices.
program build_program(cl_context context, const std::vector<cl_device_id>& devices, const char* source,
                      const std::string& options);
kernel create_kernel(cl_program program, const char* name);

/// Binds `arguments` to `kernel` in order, each by its bytes.
template <class... Arguments> void set_arguments(cl_kernel kernel, const Arguments&... arguments) {
    cl_uint index = 0;
    (check(clSetKernelArg(kernel, index++, sizeof(arguments), &arguments), "clSetKernelArg"), ...);
}

/// Host memory that the runtime has page-locked where it knows how: a mapped CL_MEM_ALLOC_HOST_PTR buffer.
class pinned_memory {
  public:
    pinned_memory(cl_context context, cl_command_queue queue, std::size_t size_bytes);
    ~pinned_memory();
    pinned_memory(const pinned_memory&) = delete;
    pinned_memory& operator=(const pinned_memory&) = delete;

    [[nodiscard]] void* data() const { return m_data; }

  private:
    queue m_queue;
    buffer m_buffer;
    void* m_data = nullptr;
};

} // namespace apps
