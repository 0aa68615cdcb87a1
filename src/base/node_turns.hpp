// SPDX-License-Identifier: Apache-2.0
// Turns that processes of one node take, by number.
#pragma once

#include "base/descriptor.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>

namespace causeway {

/// Two turns with the same number do not overlap. Each is a byte of one file, locked, so that a process that ends gives
/// up all of its own. Any thread.
class node_turns {
  public:
    /// By a file that all processes name alike; made if it is not there. Without one, or with another user's, nobody
    /// gets a turn.
    explicit node_turns(const std::filesystem::path& file);

    /// Waits at most for `limit`. False if somebody else still has the turn, or if there are none; then there is
    /// nothing to give back.
    [[nodiscard]] bool take(std::uint64_t number, std::chrono::milliseconds limit) const;
    void give_back(std::uint64_t number) const;

  private:
    descriptor m_file;
};

} // namespace causeway
