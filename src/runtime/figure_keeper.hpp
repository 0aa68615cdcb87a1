// SPDX-License-Identifier: Apache-2.0
// The tuner of the process: its file, and the devices that are measured once a program uses them.
#pragma once

#include "transfer/tuner/figures_file.hpp"
#include "transfer/tuner/tuner.hpp"

#include <CL/cl.h>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

namespace causeway::core {

class runtime;

/// Made with the runtime, and like it never destroyed.
class figure_keeper {
  public:
    /// Reads the file, unless the option says "off".
    explicit figure_keeper(runtime& process);

    [[nodiscard]] transfer::tuner& figures() { return m_figures; }
    [[nodiscard]] const transfer::figures_file& file() const { return m_file; }
    /// Why the last write of the file failed; empty if it did not. Any thread.
    [[nodiscard]] std::string problem();

    /// A transfer of `bytes` was enqueued on a device. Once there have been many the device is measured, in a thread of
    /// its own, while no transfer is under way. Call with the enqueue mutex held.
    void used(cl_context context, cl_device_id device, std::size_t bytes) noexcept;

    /// Writes what has changed into the file. Not on the engine's thread.
    void save();

    /// Throws transfer_error(invalid_operation) if nothing may be measured.
    void require_automatic() const;

    /// Ends measuring after its transfer under way. Does not wait for that.
    void give_up();
    /// Waits for the end of measuring, but not for ever: a driver may hold the thread.
    void end();

  private:
    struct device_use {
        cl_device_id device;
        std::size_t transfers = 0, bytes = 0;
        bool is_settled = false; // its figures are known, or being measured
    };
    void count(cl_context context, cl_device_id device, std::size_t bytes);
    /// False if another device is being measured.
    bool begin(cl_context context, cl_device_id device);
    void measure(cl_context context, cl_device_id device);
    /// Waits until no transfer is under way. False if measuring is to end.
    bool wait_for_quiet();

    runtime& m_process;
    transfer::tuner& m_figures;
    transfer::figures_file m_file = transfer::figures_file::of_user();
    std::vector<device_use> m_devices; // guarded by the enqueue mutex
    std::mutex m_mutex; // guards m_ending, m_thread, m_busy, m_problem
    std::condition_variable m_ended;
    bool m_ending = false;
    bool m_busy = false;
    std::string m_problem;
    std::thread m_thread;
};

} // namespace causeway::core
