// SPDX-License-Identifier: Apache-2.0
// Gates, bounded waits and what clGetTransferInfo says, for tests.
#pragma once

#include "support/handles.hpp"

#include <CL/cl_data_transfer.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>

namespace support {

/// How long a test waits for something that must happen.
#ifdef __SANITIZE_THREAD__
inline constexpr std::chrono::seconds patience{180}; // several GiB, each access of which is looked at
#else
inline constexpr std::chrono::seconds patience{30};
#endif

/// Looks again and again until `holds` does; false once patience is at its end.
[[nodiscard]] bool eventually(const std::function<bool()>& holds, std::chrono::milliseconds limit = patience);

/// A user event that holds commands back. One that is neither opened nor failed fails at the end of its scope, so that
/// a test that gives up half-way leaves nothing behind that could start later.
class gate {
  public:
    explicit gate(cl_context context);
    gate(const gate&) = delete;
    gate& operator=(const gate&) = delete;
    ~gate();

    [[nodiscard]] cl_event event() const { return m_event.get(); }
    void open() { set(CL_COMPLETE); }
    void fail(cl_int status) { set(status); }

  private:
    void set(cl_int status);

    event_handle m_event;
    bool m_set = false;
};

/// Where pretend_discrete.c is preloaded: while it lives, a kernel runs in another queue, for which markers without a
/// list wait.
class kernel_elsewhere {
  public:
    [[nodiscard]] static bool can_be_pretended();
    explicit kernel_elsewhere(cl_context context);
    kernel_elsewhere(const kernel_elsewhere&) = delete;
    kernel_elsewhere& operator=(const kernel_elsewhere&) = delete;
    ~kernel_elsewhere();

    /// Does `work` in a thread. False if it ended only when the kernel did, which is when patience was over.
    [[nodiscard]] bool is_outrun_by(const std::function<void()>& work);

  private:
    gate m_kernel;
};

[[nodiscard]] cl_int status_of(cl_event event);
/// The final status of `event`, or the one it had when patience ended.
[[nodiscard]] cl_int await(cl_event event);

/// Wait for the event; their messages carry the library's own error text.
[[nodiscard]] testing::AssertionResult completes(const event_handle& event);
[[nodiscard]] testing::AssertionResult fails_with(const event_handle& event, cl_int status);

/// One answer of clGetTransferInfo; throws std::runtime_error if it is refused.
template <typename Value> [[nodiscard]] Value transfer_info(const event_handle& event, cl_transfer_info name) {
    Value value{};
    std::size_t size = 0;
    const cl_int code = clGetTransferInfo(event.get(), name, sizeof value, &value, &size);
    if (code != CL_SUCCESS || size != sizeof value) {
        throw std::runtime_error("clGetTransferInfo gave " + std::to_string(code) + ", size " + std::to_string(size));
    }
    return value;
}
[[nodiscard]] std::string transfer_text(const event_handle& event, cl_transfer_info name);
[[nodiscard]] std::size_t bytes_moved(const event_handle& event);
[[nodiscard]] int transfer_errno(const event_handle& event);

/// Sets an option for as long as it lives; throws std::runtime_error if the library refuses.
class option_scope {
  public:
    option_scope(std::string name, const std::string& value);
    option_scope(const option_scope&) = delete;
    option_scope& operator=(const option_scope&) = delete;
    ~option_scope();

  private:
    std::string m_name;
    std::string m_before;
};

} // namespace support
