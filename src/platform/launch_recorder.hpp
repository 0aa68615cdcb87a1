// SPDX-License-Identifier: Apache-2.0
// Records kernel launches with their arguments and memory, so that another process can replay them.
#pragma once

#include "platform/kernel.hpp"
#include "platform/observer.hpp"

#include <mutex>
#include <string>
#include <vector>

namespace causeway::platform {

class launch_recorder final : public observer {
  public:
    /// Null unless CAUSEWAY_STUDY_LAUNCHES names launches.
    [[nodiscard]] static launch_recorder* of_process();

    /// For a launch that CAUSEWAY_STUDY_LAUNCHES names: finishes the queue and reads back all memory that the launch
    /// uses.
    void enqueues(api_call which, const command_shape& shape) override;

  private:
    /// A launch to record: the n-th of this kernel with these sizes.
    struct wanted {
        std::string kernel;
        cl_uint dimensions = 0;
        std::array<size_t, 3> global{1, 1, 1}, local{};
        unsigned left = 0; ///< such launches still to come, with the one to record
    };

    launch_recorder();
    void record(const command_shape& shape);

    std::mutex m_mutex; // guards what follows
    std::vector<wanted> m_wanted;
    unsigned m_recorded = 0;
};

} // namespace causeway::platform
