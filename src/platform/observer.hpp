// SPDX-License-Identifier: Apache-2.0
// Who hears of the program's calls and of the commands that drivers get: the study and the statistics.
#pragma once

#include "platform/call_record.hpp"
#include "platform/opencl.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <span>

namespace causeway::platform {

/// What an enqueued command is to do, by the arguments of its call.
struct command_shape {
    _cl_command_queue* queue = nullptr;
    _cl_kernel* kernel = nullptr; ///< of a launch
    cl_uint dimensions = 0;
    std::array<size_t, 3> offset{}, global{1, 1, 1}, local{}; ///< local[0] is 0 where the driver chooses
    size_t bytes = 0; ///< that move between host and device, or between objects
    _cl_mem* object = nullptr; ///< the first one of a copy or a map
    cl_uint waits = 0; ///< events in its wait list
    const cl_event* wait_list = nullptr; ///< of a launch
    bool blocks = false;
};

class observer {
  public:
    using time = std::chrono::nanoseconds; ///< of the host's steady clock

    /// The program has called, and its call has returned. Calls within calls are not told. Any thread; no lock is held.
    virtual void called(api_call, time begin, time end) { (void)begin, (void)end; }
    /// The program is about to enqueue this. It may be refused.
    virtual void enqueues(api_call, const command_shape&) {}
    /// The program has enqueued this; `event` is the platform's, and lives as long as it is held.
    virtual void enqueued(api_call, const command_shape&, _cl_event& event, time begin, time end) {
        (void)event, (void)begin, (void)end;
    }
    /// A driver has the command, since now; commands of the platform itself are told, too. Any thread.
    virtual void issued(const _cl_event&) {}
    /// Something was waited for: drivers may be asked now for the times of commands that are over. At the end of the
    /// process it is too late: drivers may hang. Any thread; no lock may be held.
    virtual void settle() {}

    /// All of this process; the list never changes once drivers are loaded.
    [[nodiscard]] static std::span<observer* const> all();
    /// Whether the program's calls are told: each of them goes through observed_call.hpp then.
    [[nodiscard]] static bool hears_calls();

    [[nodiscard]] static time now() { return std::chrono::steady_clock::now().time_since_epoch(); }

  protected:
    ~observer() = default;
};

} // namespace causeway::platform
