// SPDX-License-Identifier: Apache-2.0
// Calls the program back at the end of a transfer. The library does it itself, because not every driver tells of
// failures.
#pragma once

#include "cl/handles.hpp"

#include <CL/cl.h>

#include <chrono>
#include <mutex>
#include <vector>

namespace causeway::core {

/// Of one transfer. Callbacks run one after the other in a thread of their own, which may call anything. Any thread.
class end_callbacks {
  public:
    using function = void(CL_CALLBACK*)(cl_event event, cl_int status, void* user_data);

    /// Called once; soon if the transfer is over. Keeps a reference to the event until then. Throws
    /// transfer_error(invalid_operation) once the process is ending, out_of_resources without the thread.
    void add(cl_event event, function callback, void* user_data);
    /// Once: CL_COMPLETE or why it failed.
    void over(cl_int status);

    /// The process ends: waits until those that are due have been called, or for `limit`; no more are called
    /// afterwards.
    static void end(std::chrono::milliseconds limit);

  private:
    friend class callback_thread;
    struct wish {
        cl::event event;
        function callback;
        void* user_data;
        cl_int status;
    };

    std::mutex m_mutex; // guards the rest
    std::vector<wish> m_wishes;
    bool m_over = false;
    cl_int m_status = CL_QUEUED;
};

} // namespace causeway::core
