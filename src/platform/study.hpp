// SPDX-License-Identifier: Apache-2.0
// Profiles the program for `causeway study`: time in each function, launch and copy.
#pragma once

#include "platform/event.hpp"
#include "platform/observer.hpp"

#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

namespace causeway::platform {

class study final : public observer {
  public:
    /// Null unless CAUSEWAY_STUDY names a folder. At exit the process writes PID.json there.
    [[nodiscard]] static study* of_process();

    void called(api_call which, time begin, time end) override;
    void enqueued(api_call which, const command_shape& shape, _cl_event& event, time begin, time end) override;
    void settle() override;

  private:
    /// Calls of one function: time in them, in the thread that made the first call and in all others.
    struct counter {
        std::atomic<std::uint64_t> count{0};
        std::atomic<time::rep> first_thread{0}, others{0}, longest{0};
    };
    /// Launches of one kernel and size, or copies by one function of about one size.
    struct row {
        api_call which = api_call::none;
        std::string kernel;
        std::size_t device = 0; ///< of m_devices
        cl_uint dimensions = 0;
        std::array<size_t, 3> global{}, local{};
        std::uint64_t count = 0, blocking = 0, waited = 0, timed = 0, failed = 0, bytes_read = 0, bytes_written = 0;
        time in_call{}, blocked{}, to_start{}, total{}, shortest = time::max(), longest{};
        time first_in_call{}, first_to_start{}, first{}; ///< of the first command
    };
    using row_key = std::tuple<api_call, std::string, const _cl_device_id*, cl_uint, std::array<size_t, 3>,
                               std::array<size_t, 3>, unsigned>;
    /// A command that may still run.
    struct running {
        ref<_cl_event> event;
        row* of;
        time begin, end; ///< of the call
        bool is_first;
    };
    struct span {
        const row* of;
        time begin, end;
    };
    enum class outcome { still_runs, over };

    study();
    row& row_of(api_call which, const command_shape& shape);
    std::size_t number_of(const _cl_device_id& device);
    outcome look_at(running& command);
    [[nodiscard]] std::string report() const;
    void write();

    const int m_process;
    const time m_loaded;
    std::vector<counter> m_counters; ///< by function
    std::atomic<std::uint64_t> m_first_thread{0};
    std::atomic<time::rep> m_first_call{0}, m_last_call{0}, m_bookkeeping{0};

    std::mutex m_mutex; // guards what follows
    std::map<row_key, row, std::less<>> m_rows;
    std::map<const _cl_device_id*, std::size_t> m_device_numbers;
    std::vector<std::string> m_devices; ///< device info as JSON, read early: drivers are not asked at the end of the
                                        ///< process
    std::deque<running> m_running;
    std::vector<running> m_over; ///< released one settle() later: a driver may still be leaving its call
    std::vector<span> m_spans;
    std::uint64_t m_left_out = 0; ///< commands that m_spans had no room for
    time m_busy{}, m_busy_until{};
};

} // namespace causeway::platform
