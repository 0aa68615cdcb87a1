// SPDX-License-Identifier: Apache-2.0
// Interface that hears of the program's calls and of commands given to drivers; for the study, the launch recorder and
// the statistics.
#pragma once

#include "platform/call_record.hpp"
#include "platform/opencl.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <span>

namespace causeway::platform {

/// What an enqueued command does, from its call's arguments.
struct command_shape {
    _cl_command_queue* queue = nullptr;
    _cl_kernel* kernel = nullptr; ///< of a launch
    cl_uint dimensions = 0;
    std::array<size_t, 3> offset{}, global{1, 1, 1}, local{}; ///< local[0] is 0 where the driver chooses
    size_t bytes = 0; ///< bytes moved between host and device, or between objects
    _cl_mem* object = nullptr; ///< the first one of a copy or a map
    cl_uint waits = 0; ///< events in its wait list
    const cl_event* wait_list = nullptr; ///< of a launch
    bool blocks = false;
};

class observer {
  public:
    using time = std::chrono::nanoseconds; ///< of the host's steady clock

    /// A call of the program has returned. Not called for nested calls. Any thread; no lock is held.
    virtual void called(api_call, time begin, time end) { (void)begin, (void)end; }
    /// The program is about to enqueue this. It may be refused.
    virtual void enqueues(api_call, const command_shape&) {}
    /// The program has enqueued this; `event` is the platform's, and lives as long as it is held.
    virtual void enqueued(api_call, const command_shape&, _cl_event& event, time begin, time end) {
        (void)event, (void)begin, (void)end;
    }
    /// A driver has just accepted the command, be it the program's or the platform's own. Any thread.
    virtual void issued(const _cl_event&) {}
    /// A wait has ended: a good moment to ask drivers for the times of finished commands, because at the end of the
    /// process they may hang. Any thread; no lock may be held.
    virtual void settle() {}

    /// All observers of this process; fixed once drivers are loaded.
    [[nodiscard]] static std::span<observer* const> all();
    /// Whether any observer hears calls; if so, calls go through observed_call.hpp.
    [[nodiscard]] static bool hears_calls();

    [[nodiscard]] static time now() { return std::chrono::steady_clock::now().time_since_epoch(); }

  protected:
    ~observer() = default;
};

} // namespace causeway::platform
