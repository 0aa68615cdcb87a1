// SPDX-License-Identifier: Apache-2.0
// Records launches with all that they use, so that another process can do them again.
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

    /// Waits for the queue and reads what the launch uses, if it is one of those that are asked for.
    void enqueues(api_call which, const command_shape& shape) override;

  private:
    /// A launch that is asked for: the n-th of a kernel with these sizes.
    struct wanted {
        std::string kernel;
        cl_uint dimensions = 0;
        std::array<size_t, 3> global{1, 1, 1}, local{};
        unsigned left = 0; ///< until it is the one
    };

    launch_recorder();
    void record(const command_shape& shape);

    std::mutex m_mutex; // guards what follows
    std::vector<wanted> m_wanted;
    unsigned m_recorded = 0;
};

} // namespace causeway::platform
