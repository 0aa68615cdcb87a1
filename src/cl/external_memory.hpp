// SPDX-License-Identifier: Apache-2.0
// Memory that another interface has allocated, as OpenCL buffers (cl_khr_external_memory).
#pragma once

#include "cl/handles.hpp"

#include <cstddef>

namespace causeway::cl {

/// The import functions of a device's platform, looked up by the constructor. Any thread afterwards.
class external_memory {
  public:
    explicit external_memory(cl_device_id device);

    /// Whether opaque descriptors can be imported.
    [[nodiscard]] explicit operator bool() const { return m_create != nullptr && m_acquire != nullptr; }
    /// The memory behind `descriptor` as a buffer for one device of the context. OpenCL owns the descriptor from then
    /// on, even if this fails. Throws transfer_error.
    [[nodiscard]] buffer import(cl_context context, int descriptor, std::size_t bytes,
                                cl_mem_flags flags = CL_MEM_READ_WRITE) const;
    /// Commands of `queue` between acquire and release see what other interfaces have written, and the other way round.
    cl_int acquire(cl_command_queue queue, cl_mem memory) const;
    cl_int release(cl_command_queue queue, cl_mem memory, cl_event* event) const;

  private:
    using create_function = cl_mem CL_API_CALL(cl_context, const cl_bitfield*, cl_mem_flags, size_t, void*, cl_int*);
    using own_function = cl_int CL_API_CALL(cl_command_queue, cl_uint, const cl_mem*, cl_uint, const cl_event*,
                                            cl_event*);

    cl_device_id m_device;
    create_function* m_create = nullptr;
    own_function* m_acquire = nullptr;
    own_function* m_release = nullptr;
};

} // namespace causeway::cl
