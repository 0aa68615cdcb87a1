// SPDX-License-Identifier: Apache-2.0
// The turn in which a rank launches a kernel for the first time. PoCL compiles a kernel for its work-group size then,
// in a thread of its own, and keeps the result for all processes.
#pragma once

#include "platform/kernel.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

namespace causeway::platform {

/// While a rank has it, the others of its node that launch the same wait in that call, and find the result then. A
/// launch that does not go to its driver at once gives it back: nobody waits for a user event.
class first_launch {
  public:
    /// Null if there is nothing to wait for: the kernel was launched so before, no other rank finds what this one
    /// compiles, or another rank has taken longer than anybody waits.
    [[nodiscard]] static std::shared_ptr<first_launch> of(const _cl_kernel& kernel, const _cl_command_queue& queue,
                                                          bool has_offset,
                                                          const std::optional<std::array<size_t, 3>>& local,
                                                          const std::array<size_t, 3>& global);
    explicit first_launch(std::uint64_t number) : m_number(number) {}
    ~first_launch();
    first_launch(const first_launch&) = delete;
    first_launch& operator=(const first_launch&) = delete;

    /// Keeps it until the driver runs the command, and so has compiled it.
    static void keep_until_running(std::shared_ptr<first_launch> turn, cl_event raw);

  private:
    const std::uint64_t m_number;
};

} // namespace causeway::platform
