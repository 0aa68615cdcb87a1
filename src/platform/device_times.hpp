// SPDX-License-Identifier: Apache-2.0
// Breaks the run time of each of this rank's devices down for CAUSEWAY_STATS, as SnuCL-D's figure 9 does.
#pragma once

#include "platform/event.hpp"
#include "platform/observer.hpp"

#include <array>
#include <chrono>
#include <memory>
#include <mutex>
#include <vector>

namespace causeway::platform {

class device_times final : public observer {
  public:
    /// Null unless CAUSEWAY_STATS asks for it in a cluster. If not null, create drivers' queues with profiling.
    [[nodiscard]] static device_times* of_process();

    void issued(const _cl_event& event) override;
    void settle() override;

  private:
    /// Moves are the platform's copies of contents between devices. They may spend all their time waiting for another
    /// rank, so they count only while nothing else runs.
    enum class sort : std::size_t { kernel, write, copy, read, move };
    static constexpr std::size_t sorts = 5;

    /// A command that may still run.
    struct running {
        driver_object<cl_event> raw;
        const _cl_device_id* device;
        sort what;
        time issued;
        std::shared_ptr<std::atomic<time::rep>> over; ///< end of a transfer, which no driver times; 0: still running
    };
    struct span {
        const _cl_device_id* device;
        sort what;
        time begin, end;
    };
    /// Time in which one sort of command ran alone; kernels overlapped other commands; nothing ran.
    struct breakdown {
        std::array<time, sorts> alone{};
        time beside{}, idle{};
    };

    device_times();
    /// False while the command runs, or if its times are not known.
    bool has_settled(const running& command);
    [[nodiscard]] breakdown break_down(const _cl_device_id& device) const;
    void report();

    std::mutex m_mutex; // guards what follows
    std::vector<running> m_running, m_over;
    std::vector<span> m_spans;
};

} // namespace causeway::platform
