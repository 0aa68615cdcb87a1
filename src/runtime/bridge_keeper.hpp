// SPDX-License-Identifier: Apache-2.0
// Starts the process's bridge, in a thread of its own, once a program moves large pieces between GPUs.
#pragma once

#include "bridge/windows.hpp"
#include "cl/calls.hpp"

#include <CL/cl.h>

#include <cstddef>
#include <future>
#include <mutex>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace causeway::core {

class runtime;

/// Made with the runtime, and like it never destroyed.
class bridge_keeper {
  public:
    explicit bridge_keeper(runtime& process) : m_process(process) {}

    /// A transfer of `bytes` from device to device was enqueued on `devices`, in this process or between ranks. Until
    /// the bridge is there, transfers go without. Call with the enqueue mutex held.
    void wanted(std::span<const cl_device_id> devices, std::size_t bytes) noexcept;
    /// Starts the bridge whatever the size, and waits until it is there or has failed. Call without the enqueue mutex.
    void await(cl_device_id device);
    /// Reports that transfers do not use the links: from now on state() says `why`. Any thread.
    void tell(const std::string& why, bridge::given_up how_long);
    /// "CUDA 13.0 and Vulkan", and the last reason why transfers did not use it; or "none: " and why. Any thread.
    [[nodiscard]] std::string state() const;
    /// Ends the thread and waits for it, because drivers shut down with the process. A later wanted() starts the bridge
    /// anew. Call without the enqueue mutex.
    void end();

  private:
    /// `one` is the facts of one of `devices`.
    void begin(std::vector<bridge::device_uuid> devices, const cl::device_facts& one);
    void say(const std::string& state);
    /// Call with m_mutex held.
    [[nodiscard]] std::string text() const;
    void show() const;

    runtime& m_process;
    bool m_is_begun = false; // guarded by the enqueue mutex
    bool m_is_late = false; // guarded by the enqueue mutex: a wait has timed out, nobody waits again
    bool m_was_stopped = false; // written by the thread
    mutable std::mutex m_mutex; // guards the next three
    std::string m_state = "none: not wanted yet";
    std::string m_reason; // the last reason why transfers took another way
    bool m_is_over_for_good = false;
    std::thread m_thread;
    std::stop_source m_ending;
    std::shared_future<void> m_is_over;
};

} // namespace causeway::core
