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

/// The callbacks of one transfer. All callbacks of the process run one after the other in one thread of the library,
/// and may call anything. Functions: any thread.
class end_callbacks {
  public:
    using function = void(CL_CALLBACK*)(cl_event event, cl_int status, void* user_data);

    /// Has `callback` called once; soon if the transfer is over. Keeps a reference to the event until then. Throws
    /// transfer_error: invalid_operation once the process is ending, out_of_resources if the thread cannot start.
    void add(cl_event event, function callback, void* user_data);
    /// Call once: the transfer is over, with CL_COMPLETE or why it failed.
    void over(cl_int status);

    /// The process ends: waits until all due callbacks have returned, at most for `limit`. None is called afterwards.
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
