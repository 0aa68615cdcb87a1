// SPDX-License-Identifier: Apache-2.0
// Locks shared by the processes of one node, by number.
#pragma once

#include "base/descriptor.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>

namespace causeway {

/// A turn is a lock with a number. Each is a locked byte of one file, so the kernel gives back those of a process that
/// ends. Any thread.
class node_turns {
  public:
    /// `file` is the same in all processes, and made if it is not there. If it cannot be made or is another user's,
    /// nobody gets a turn.
    explicit node_turns(const std::filesystem::path& file);

    /// Waits at most for `limit`. False if somebody else still has the turn, or if there are none; then there is
    /// nothing to give back.
    [[nodiscard]] bool take(std::uint64_t number, std::chrono::milliseconds limit) const;
    void give_back(std::uint64_t number) const;

  private:
    descriptor m_file;
};

} // namespace causeway
