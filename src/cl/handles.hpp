// SPDX-License-Identifier: Apache-2.0
// Owning handles of OpenCL objects.
#pragma once

#include <CL/cl.h>

#include <utility>

namespace causeway::cl {

/// Holds one reference. Null is allowed.
template <class Raw, auto Retain, auto Release> class handle {
  public:
    handle() = default;
    /// Takes over a reference that the caller owns.
    [[nodiscard]] static handle adopt(Raw raw) { return handle(raw); }
    /// Adds a reference to an object that somebody else owns.
    [[nodiscard]] static handle share(Raw raw) {
        if (raw != nullptr) Retain(raw);
        return handle(raw);
    }
    handle(const handle& other) : handle(share(other.m_raw)) {}
    handle(handle&& other) noexcept : m_raw(std::exchange(other.m_raw, nullptr)) {}
    handle& operator=(handle other) noexcept {
        std::swap(m_raw, other.m_raw);
        return *this;
    }
    ~handle() {
        if (m_raw != nullptr) Release(m_raw);
    }

    [[nodiscard]] Raw get() const { return m_raw; }
    [[nodiscard]] explicit operator bool() const { return m_raw != nullptr; }
    /// Gives the reference to the caller.
    [[nodiscard]] Raw release() { return std::exchange(m_raw, nullptr); }

  private:
    explicit handle(Raw raw) : m_raw(raw) {}
    Raw m_raw = nullptr;
};

using context = handle<cl_context, clRetainContext, clReleaseContext>;
using queue = handle<cl_command_queue, clRetainCommandQueue, clReleaseCommandQueue>;
using buffer = handle<cl_mem, clRetainMemObject, clReleaseMemObject>;
using program = handle<cl_program, clRetainProgram, clReleaseProgram>;
using kernel = handle<cl_kernel, clRetainKernel, clReleaseKernel>;
using event = handle<cl_event, clRetainEvent, clReleaseEvent>;

} // namespace causeway::cl
