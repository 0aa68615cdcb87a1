// SPDX-License-Identifier: Apache-2.0
// Owners of OpenCL objects for tests: released when they go out of scope.
#pragma once

#include <CL/cl.h>

#include <utility>

namespace support {

/// Owns one reference to an OpenCL object.
template <typename Object, auto Release> class handle {
  public:
    handle() = default;
    explicit handle(Object adopted) : m_object(adopted) {}
    handle(handle&& other) noexcept : m_object(std::exchange(other.m_object, nullptr)) {}
    handle& operator=(handle&& other) noexcept {
        std::swap(m_object, other.m_object);
        return *this;
    }
    ~handle() { release(); }

    [[nodiscard]] Object get() const { return m_object; }

    /// Where a call puts its result; what was held before is released.
    [[nodiscard]] Object* out() {
        release();
        return &m_object;
    }

    void release() {
        if (m_object != nullptr) {
            Release(std::exchange(m_object, nullptr));
        }
    }

  private:
    Object m_object = nullptr;
};

inline void release_context(cl_context context) { clReleaseContext(context); }
inline void release_queue(cl_command_queue queue) { clReleaseCommandQueue(queue); }
inline void release_buffer(cl_mem buffer) { clReleaseMemObject(buffer); }
inline void release_event(cl_event event) { clReleaseEvent(event); }
inline void release_program(cl_program program) { clReleaseProgram(program); }
inline void release_kernel(cl_kernel kernel) { clReleaseKernel(kernel); }

using context_handle = handle<cl_context, release_context>;
using queue_handle = handle<cl_command_queue, release_queue>;
using buffer_handle = handle<cl_mem, release_buffer>;
using event_handle = handle<cl_event, release_event>;
using program_handle = handle<cl_program, release_program>;
using kernel_handle = handle<cl_kernel, release_kernel>;

} // namespace support
