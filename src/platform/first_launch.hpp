// SPDX-License-Identifier: Apache-2.0
// Serialises the ranks' first launches of a kernel. At a first launch PoCL compiles the kernel for its work-group size,
// in a thread of its own, and caches the result for all processes.
#pragma once

#include "platform/kernel.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

namespace causeway::platform {

/// A rank's turn to compile. Other ranks of its node with the same launch block in that call, and find the result in
/// the cache. A launch that must wait (for a user event, say) gives the turn back.
class first_launch {
  public:
    /// Blocks until it is this rank's turn. Null if no turn is needed: the kernel was launched so before, no other rank
    /// shares the cache, or the wait for another rank timed out.
    [[nodiscard]] static std::shared_ptr<first_launch> of(const _cl_kernel& kernel, const _cl_command_queue& queue,
                                                          bool has_offset,
                                                          const std::optional<std::array<size_t, 3>>& local,
                                                          const std::array<size_t, 3>& global);
    explicit first_launch(std::uint64_t number) : m_number(number) {}
    ~first_launch();
    first_launch(const first_launch&) = delete;
    first_launch& operator=(const first_launch&) = delete;

    /// Keeps `turn` until the driver runs the command `raw`, and so has compiled it.
    static void keep_until_running(std::shared_ptr<first_launch> turn, cl_event raw);

  private:
    const std::uint64_t m_number;
};

} // namespace causeway::platform
